import { expect } from "bun:test"
import { HOSTILE, pluginScreens } from "#plugin/test/browser"
import cohorts from "../cohorts.ts"
import type { LeaderResponse } from "../responses.ts"
import { eventsOf } from "./kit.ts"

const SITE = "/api/private/sites/1"

pluginScreens({
  plugin: cohorts,
  paths: ["/sites/1/retention", "/sites/1/cohorts", "/sites/1/cohorts/1", "/sites/1/power-users"],
  settings: { store_user_ids_allowed: "true" },
  /** Records people whose ids, events and pages are attacks, and cohorts of them. */
  async fill({ api, eventsKey }, cookie) {
    const admin = { cookie }
    const settings = { identity_mode: "identified", store_user_ids: true }
    expect(await api.send("PATCH", `${SITE}/settings`, settings, undefined, admin)).toMatchObject({ status: 200 })
    const deeds = HOSTILE.flatMap((text, index) =>
      ["2026-11-10", "2026-11-18"].flatMap((day) => [
        { user: text, at: `${day}T10:0${index}:00Z`, did: `/${encodeURIComponent(text)}` },
        { user: text, at: `${day}T10:1${index}:00Z`, did: text, props: { plan: text } },
      ]),
    )
    const sent = await api.post("/api/public/v1/sites/1/events", { events: eventsOf(deeds) }, eventsKey)
    // Views of a page such as /../etc/passwd are probes, which are not stored.
    expect(sent.body).toMatchObject({ rejected: [], dropped: [{ reason: "probe" }, { reason: "probe" }] })
    for (const [index, name] of HOSTILE.entries()) {
      const conditions = [
        { type: "event", value: name },
        { type: "page", value: `/${name}`, filters: [{ dimension: "entry_page", operator: "contains", values: [name] }] },
      ]
      const body = { name, description: HOSTILE.at(index - 1), definition: { match: "any", conditions } }
      expect(await api.post(`${SITE}/cohorts`, body, undefined, admin)).toMatchObject({ status: 201 })
    }
    const { body } = await api.get(`${SITE}/power-users`, undefined, admin)
    const leader = (body as { data: LeaderResponse[] }).data.find(({ label }) => label === HOSTILE[0])!
    return [`/sites/1/power-users/${leader.person}`]
  },
})
