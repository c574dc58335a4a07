import { expect, test } from "bun:test"
import type { EngagementResponse } from "../responses.ts"
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
