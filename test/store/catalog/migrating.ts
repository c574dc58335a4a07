import { catalogUrl, openCatalog } from "../../../src/store/catalog/catalog.ts"
import { migrate } from "../../../src/store/catalog/schema.ts"

/** Runs a short and a long migration, so that a test can kill it in between. */
const catalog = await openCatalog(catalogUrl(process.argv[2]!))
const first = { name: "0001_things", sql: "create table things (n integer) strict; insert into things values (1)" }
const long = {
  name: "0002_long",
  sql: `create table numbers (n integer) strict;
    insert into numbers with recursive counter(n) as (select 1 union all select n + 1 from counter where n < 30000) select n from counter;
    insert into numbers select n from numbers`,
}
await migrate(catalog, [{ owner: "core", migrations: [first] }], { version: "1.2.0", now: 1 })
console.log("migrating")
await migrate(catalog, [{ owner: "core", migrations: [first, long] }], { version: "1.2.0", now: 1 })
console.log("done")
