"""HTTP: requests in, one service call, answers or problems out."""
