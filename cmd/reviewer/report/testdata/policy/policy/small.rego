package reviewer.small

yes := true
