import { expect, test } from "bun:test"
import type { EngagementResponse, HistogramResponse } from "../responses.ts"
import { startPeople } from "./kit.ts"

test("the dormant people of a day cannot be told from those of the day before who returned", async () => {
  await using stage = await startPeople()
  const on = (day: string, names: string) => [...names].map((user) => ({ user, at: `${day}T10:00:00Z`, did: "/" }))
  await stage.record([...on("2026-10-18", "abcdefgh"), ...on("2026-10-19", "abcdef")])
  const path = "/engagement?from=2026-10-18&to=2026-10-19"
  const second = async (as?: { cookie: string }) => ((await stage.get(path, as)).body as EngagementResponse).points[1]
  expect(await second()).toMatchObject({ dau: 6, new: 0, returning: 6, dormant: 2 })
  expect(await second(stage.viewer)).toMatchObject({ dau: 6, new: null, returning: null, resurrected: null, dormant: null })
})

test("what a filter or a cohort leaves out is no small group that a viewer can see", async () => {
  await using stage = await startPeople()
  const on = (did: string, names: string) => [...names].map((user) => ({ user, at: "2026-10-19T10:00:00Z", did }))
  await stage.record([...on("/", "abcdefg"), ...on("/pricing", "hi")])
  const filters = encodeURIComponent(JSON.stringify(Array(2).fill({ dimension: "entry_page", operator: "is", values: ["/"] })))
  const dailyOf = async (more: string, as?: { cookie: string }) =>
    ((await stage.get(`/engagement?from=2026-10-19&to=2026-10-19${more}`, as)).body as EngagementResponse).points[0]!.dau
  expect([await dailyOf(""), await dailyOf(`&filters=${filters}`)]).toEqual([9, 7])
  expect([await dailyOf("", stage.viewer), await dailyOf(`&filters=${filters}`, stage.viewer)]).toEqual([9, null])
  const peopleOf = async (more: string) => {
    const { people, buckets } = (await stage.get(`/power-users/histogram?window=7${more}`, stage.viewer)).body as HistogramResponse
    return [people, buckets[0]!.people]
  }
  expect([await peopleOf(""), await peopleOf(`&filters=${filters}`)]).toEqual([
    [9, 9],
    [null, null],
  ])
})
