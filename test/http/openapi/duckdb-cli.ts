/** Runs statements from the standard input on a database file, as the command line of DuckDB does, which is no package. */
import { DuckDBInstance } from "@duckdb/node-api"

const [path] = process.argv.slice(2)
const database = await DuckDBInstance.create(path!)
const connection = await database.connect()
await connection.run(await Bun.stdin.text())
connection.closeSync()
database.closeSync()
