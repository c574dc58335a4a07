import { describe, expect, test } from "bun:test"
import type { LinkResponse } from "../responses.ts"
import { bodyOf, draftOf, newRule } from "../ui/link-draft.ts"
import { instantOf, localOf } from "../ui/zone-time.ts"

const ZONE = "Europe/Berlin"

describe("local times", () => {
  test.each([
    ["in winter", "2026-11-21T12:00", "2026-11-21T11:00:00.000Z"],
    ["in summer", "2026-07-01T00:30", "2026-06-30T22:30:00.000Z"],
    ["in the hour that clocks skip", "2026-03-29T02:30", "2026-03-29T01:30:00.000Z"],
    ["that is invalid", "tomorrow", undefined],
    ["of a day that does not exist", "2026-13-01T00:00", undefined],
  ])("converts a time %s to an instant", (_, local, instant) => {
    expect(instantOf(local, ZONE)).toBe(instant)
  })

  test("formats an instant in the time zone and parses it back", () => {
    expect(localOf("2026-07-01T22:00:00.000Z", ZONE)).toBe("2026-07-02T00:00")
    expect(instantOf("2026-07-02T00:00", ZONE)).toBe("2026-07-01T22:00:00.000Z")
    expect(localOf(null, ZONE)).toBe("")
  })
})

const LINK: LinkResponse = {
  ...{ id: 3, slug: "spring", domain_id: null, short_url: "http://localhost/l/spring", qr_url: "/qr", title: "Spring", notes: "" },
  ...{ destination: "https://shop.example/sale", tags: ["mail"], redirect_status: 302, forward_query: true, forward_path: false },
  ...{ utm: { utm_source: "letter" }, utm_mode: "fill", starts_at: null, expires_at: "2026-12-24T17:00:00Z", expired_destination: null },
  ...{ max_clicks: null, has_password: true, noindex: true, state: "active", clicks: { total: 0, human: 0, bot: 0, qr: 0 } },
  ...{ last_click_at: null, version: 2, created_at: "2026-11-01T00:00:00Z", updated_at: "2026-11-01T00:00:00Z" },
  ...{ archived_at: null, created_by: 1 },
  rules: [{ when: { device: ["Mobile"], query: { name: "ref" } }, destination: "https://m.shop.example/" }],
}

test("shows a link in the time zone of the site and converts it back", () => {
  const draft = draftOf(LINK, ZONE)
  expect(draft.expires).toBe("2026-12-24T18:00")
  expect(bodyOf(draft, ZONE)).toMatchObject({ tags: ["mail"], expires_at: "2026-12-24T17:00:00.000Z", max_clicks: null })
  expect(bodyOf(draft, ZONE)).not.toHaveProperty("password")
})

test("converts changed fields", () => {
  const draft = { ...draftOf(LINK, ZONE), tags: "mail,  print, mail", expires: "", password: null, rules: [] }
  const changes = { tags: ["mail", "print"], expires_at: null, password: null, rules: [] }
  expect(bodyOf(draft, ZONE)).toEqual({ ...bodyOf(draftOf(LINK, ZONE), ZONE), ...changes })
})

test("sends no empty slug, password or rule condition for a new link", () => {
  const rule = newRule({ country: "de, at", from: "2026-12-01", destination: " https://shop.example/at " })
  const draft = { ...draftOf(undefined, ZONE), destination: "https://shop.example/", rules: [rule] }
  const body = bodyOf(draft, ZONE)
  expect(body.rules).toEqual([{ when: { country: ["DE", "AT"], date: { from: "2026-12-01" } }, destination: "https://shop.example/at" }])
  expect(Object.keys(body).filter((name) => ["slug", "password", "force", "utm_template_id"].includes(name))).toEqual([])
})
