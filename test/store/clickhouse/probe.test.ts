import { describe, expect, test } from "bun:test"
import type { Clickhouse } from "../../../src/store/clickhouse/client.ts"
import { probeClickhouse } from "../../../src/store/clickhouse/probe.ts"
import { hasClickhouse, startClickhouse } from "./server.ts"

describe.skipIf(!hasClickhouse())("the probe of ClickHouse", () => {
  test("accepts this version, and names what another server evaluates differently", async () => {
    await using running = await startClickhouse()
    expect(await probeClickhouse(running.clickhouse)).toEqual([])
    const other = (sql: string) =>
      sql.replace("'UTC'", "'Asia/Tokyo'").replace("cityHash64", "sipHash64").replace("groupUniqArrayArray", "groupArrayArray")
    const different: Clickhouse = { ...running.clickhouse, rows: (sql, options) => running.clickhouse.rows(other(sql), options) }
    expect(await probeClickhouse(different)).toEqual(["months", "marks", "lists"])
  })
})
