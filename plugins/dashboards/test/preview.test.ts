import { afterAll, beforeAll, expect, test } from "bun:test"
import type { Answer } from "#plugin/test"
import type { DataResponse } from "../responses.ts"
import { refusal, text, widget } from "./kit.ts"
import { type DataStage, startVisits } from "./visits.ts"

let stage: DataStage
beforeAll(async () => {
  stage = await startVisits()
})
afterAll(() => stage[Symbol.asyncDispose]())

const preview = (id: number, widgets: unknown, as = stage.owner): Promise<Answer> =>
  stage.post(`/dashboards/${id}/preview`, { widgets }, as)

test("the preview of widgets has the figures that they show once they are saved, and saves nothing", async () => {
  const id = await stage.board([text()], { filters: [{ dimension: "page", values: ["/pricing"] }] })
  const before = (await stage.get(`/dashboards/${id}`)).body as { version: number; widgets: object[] }
  const widgets = [
    widget("metric", { metric: "visitors" }),
    widget("breakdown", { dimension: "page", range: { period: "28d" } }, { y: 2 }),
    widget("timeseries", { metrics: ["pageviews"] }, { y: 4 }),
  ]
  const shown = (await preview(id, widgets)).body as DataResponse
  expect((await stage.get(`/dashboards/${id}`)).body).toEqual(before)
  expect(shown.results[1]).toMatchObject({ status: "ok", data: { metrics: { visitors: 2 } } })
  await stage.send("PUT", `/dashboards/${id}`, { ...before, widgets })
  expect(Object.values(shown.results)).toEqual(await stage.dataOf(id))
})

test("a widget that cannot be saved has no preview", async () => {
  const id = await stage.board([])
  const faults = async (widgets: unknown) => refusal(await preview(id, widgets))
  expect(await faults([widget("metric", {})])).toMatchObject({
    ...{ status: 422, code: "invalid_widget_config", errors: ["/widgets/0/config/metric required"] },
  })
  expect(await faults([widget("nothing")])).toMatchObject({ status: 422, code: "unknown_widget_type" })
  expect(await faults([widget("metric", { metric: "visitors", goal_id: 999 })])).toMatchObject({ status: 422, code: "broken_reference" })
  expect(await faults([widget("metric", { metric: "visitors" }, { source_site_id: 999 })])).toMatchObject({
    ...{ status: 422, code: "validation_failed", errors: ["/widgets/0/source_site_id site_not_found"] },
  })
  expect(await faults(undefined)).toMatchObject({ status: 422, errors: ["/widgets required"] })
  expect(refusal(await stage.post(`/dashboards/${id}/preview`, { widgets: [], range: {} }))).toMatchObject({
    errors: ["/range unknown_field"],
  })
})

test("only those who can change a dashboard preview its widgets", async () => {
  const [mine, ours] = [await stage.board([]), await stage.board([], { visibility: "site" })]
  const one = [widget("metric", { metric: "visitors" })]
  expect(await preview(ours, one, stage.editor)).toMatchObject({ status: 200 })
  expect(refusal(await preview(ours, one, stage.viewer))).toMatchObject({ status: 403, code: "forbidden" })
  expect(refusal(await preview(mine, one, stage.editor))).toMatchObject({ status: 404, code: "dashboard_not_found" })
  expect(refusal(await preview(0, one))).toMatchObject({ status: 409, code: "read_only_dashboard" })
})
