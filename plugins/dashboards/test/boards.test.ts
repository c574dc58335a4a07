import { afterAll, beforeAll, expect, test } from "bun:test"
import { type Stage, startStage } from "./kit.ts"

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

test("shows a new member the built-in Overview, which opens first", async () => {
  const { status, body } = await stage.get("/dashboards", stage.viewer)
  expect({ status, body }).toMatchObject({
    status: 200,
    body: {
      data: [{ id: 0, name: "Overview", visibility: "site", owner: null, widget_count: 12, can_edit: false, shared: false, version: 1 }],
      default_dashboard_id: 0,
      has_more: false,
      next_cursor: null,
    },
  })
})
