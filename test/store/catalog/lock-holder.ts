import { createClient } from "@libsql/client"

/** Holds the write lock of a catalog until its input ends. */
const transaction = await createClient({ url: `file:${process.argv[2]}` }).transaction("write")
await transaction.execute("insert into t values (0)")
console.log("locked")
await Bun.stdin.text()
transaction.close()
