import { test } from "bun:test"
import { plugins } from "../../plugins/index.ts"
import { sql } from "../../src/store/sql.ts"
import { expectFewLost, expectKept, expectUsedUp, KILLS, KILLS_UNDER_LOAD } from "./kept-records.ts"

test.skipIf(!plugins.some(({ id }) => id === "links"))(
  `recorded clicks survive ${KILLS} kills, each exactly once, also in the lifetime counter`,
  () =>
    expectKept({
      ...{ make: "scripts/bench/links/row.ts", path: "/l/bench", missingPath: "/l/nobody", status: 302, kind: "clicks" },
      counter: sql`select clicks_human as n from links_links`,
    }),
  180_000,
)

test.skipIf(!plugins.some(({ id }) => id === "links"))(
  `loses the clicks of at most 20 ms in each of ${KILLS_UNDER_LOAD} kills under load`,
  () => expectFewLost({ make: "scripts/bench/links/row.ts", path: "/l/bench", status: 302, kind: "clicks" }),
  180_000,
)

test.skipIf(!plugins.some(({ id }) => id === "links"))(
  "keeps a limit used up when the process is killed right after the last click",
  () => expectUsedUp({ make: "scripts/bench/links/row.ts", path: "/l/bench" }),
  180_000,
)
