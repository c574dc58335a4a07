import { expect, test } from "bun:test"
import { sql } from "../../src/store/sql.ts"
import { startInstance } from "../kit.ts"

test("hides the cause of an unexpected failure and logs it under the request id", async () => {
  await using instance = await startInstance()
  const { app, api, log, statsKey } = instance
  // Simulates a bug: one table of the catalog is missing.
  await app.instance.catalog.run(sql`alter table api_keys rename to lost`)
  const answer = await api.get("/api/public/v1/sites/1/stats/summary", statsKey, { "x-request-id": "trace-1" })
  expect(answer).toMatchObject({
    status: 500,
    body: {
      type: "http://localhost/errors/internal_error",
      title: "Something went wrong",
      status: 500,
      detail: "The server failed. The log contains the cause.",
      code: "internal_error",
      request_id: "trace-1",
    },
  })
  expect(Object.keys(answer.body as object)).toHaveLength(6)
  expect(log.lines).toMatchObject([{ level: "error", message: "request failed", fields: { request_id: "trace-1" } }])
})
