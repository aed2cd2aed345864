"""The package as its users meet it: installed, imported, without its optional parts."""
