from kfp.cli import main

main()
