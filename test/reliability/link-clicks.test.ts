import { test } from "bun:test"
import { plugins } from "../../plugins/index.ts"
import { sql } from "../../src/store/catalog/sql.ts"
import { expectKept, KILLS } from "./kept-records.ts"

test.skipIf(!plugins.some(({ id }) => id === "links"))(
  `clicks that were recorded outlive ${KILLS} kills, each once, in the lifetime counter too`,
  () =>
    expectKept({
      ...{ make: "scripts/bench/link-row.ts", path: "/l/bench", nobody: "/l/nobody", status: 302, kind: "clicks" },
      counter: sql`select clicks_human as n from links_links`,
    }),
  180_000,
)
