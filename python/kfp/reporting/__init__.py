"""Reports: one page of HTML in which everything that a person needs in order to believe a result is at hand."""
