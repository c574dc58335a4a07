import { test } from "bun:test"
import { plugins } from "../../plugins/index.ts"
import { sql } from "../../src/store/sql.ts"
import { expectFewLost, expectKept, KILLS, KILLS_UNDER_LOAD } from "./kept-records.ts"

test.skipIf(!plugins.some(({ id }) => id === "pixels"))(
  `recorded opens survive ${KILLS} kills, each exactly once, also in the lifetime counter`,
  () =>
    expectKept({
      ...{ make: "test/reliability/pixel-row.ts", path: "/p/proof.gif", missingPath: "/p/nobody.gif", status: 200, kind: "opens" },
      counter: sql`select opens_total as n from pixels_pixels`,
    }),
  180_000,
)

test.skipIf(!plugins.some(({ id }) => id === "pixels"))(
  `loses the opens of at most 20 ms in each of ${KILLS_UNDER_LOAD} kills under load`,
  () => expectFewLost({ make: "test/reliability/pixel-row.ts", path: "/p/proof.gif", status: 200, kind: "opens" }),
  180_000,
)
