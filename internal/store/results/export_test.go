package results

// Migrations are the embedded migrations.
var Migrations = migrations
