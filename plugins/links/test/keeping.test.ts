import { afterAll, expect, test } from "bun:test"
import { linkStand, PATH } from "./kit.ts"

const stand = await linkStand()
afterAll(() => stand[Symbol.asyncDispose]())
const { ask, make } = stand
const { instance } = stand
const destination = "https://example.com/"
const withDate = (date: object) => ({ destination, rules: [{ when: { date }, destination }] })

test("creates a link once per idempotency key and returns all of its fields", async () => {
  const headers = { "idempotency-key": "one" }
  const answer = await ask("POST", PATH, { destination, slug: "First", tags: ["a", "b"] }, headers)
  expect(answer).toMatchObject({
    status: 201,
    body: {
      slug: "First",
      domain_id: null,
      short_url: expect.stringMatching(/^http:\/\/localhost:\d+\/l\/First$/),
      qr_url: `${PATH}/${answer.body.id}/qr`,
      destination,
      tags: ["a", "b"],
      redirect_status: 302,
      forward_query: true,
      forward_path: false,
      utm: {},
      utm_mode: "fill",
      noindex: true,
      has_password: false,
      state: "active",
      clicks: { total: 0, human: 0, bot: 0, qr: 0 },
      version: 1,
    },
  })
  expect({ location: answer.headers.get("location"), etag: answer.headers.get("etag") }).toEqual({
    location: `${PATH}/${answer.body.id}`,
    etag: '"1"',
  })
  const again = await ask("POST", PATH, { destination, slug: "First", tags: ["a", "b"] }, headers)
  expect({ status: again.status, replayed: again.headers.get("idempotency-replayed"), body: again.body }).toEqual({
    status: 201,
    replayed: "true",
    body: answer.body,
  })
  expect(await ask("POST", PATH, { destination, slug: "other" }, headers)).toMatchObject({
    status: 422,
    body: { code: "idempotency_key_reused" },
  })
})

test.each<[string, object, string, string]>([
  ["without a destination", {}, "/destination", "required"],
  ["with a wrong type", { destination: 5 }, "/destination", "invalid_type"],
  ["with an unknown field", { destination, colour: 1 }, "/colour", "unknown_field"],
  ["with a long title", { destination, title: "x".repeat(201) }, "/title", "too_long"],
  ["with long notes", { destination, notes: "x".repeat(2_001) }, "/notes", "too_long"],
  ["with many tags", { destination, tags: Array.from({ length: 51 }, (_, i) => `t${i}`) }, "/tags", "too_many"],
  ["with an empty tag", { destination, tags: [""] }, "/tags/0", "too_short"],
  ["with a control character", { destination, title: "a\u0007b" }, "/title", "invalid_characters"],
  ["with an invalid status", { destination, redirect_status: 303 }, "/redirect_status", "invalid_choice"],
  ["with a text for a number", { destination, max_clicks: "5" }, "/max_clicks", "invalid_type"],
  ["with a limit of 0 clicks", { destination, max_clicks: 0 }, "/max_clicks", "out_of_range"],
  ["with a limit of over a billion clicks", { destination, max_clicks: 1_000_000_001 }, "/max_clicks", "out_of_range"],
  ["with a day for a time", { destination, starts_at: "2026-11-21" }, "/starts_at", "invalid_date"],
  [
    "that ends before it starts",
    { destination, starts_at: "2026-11-22T00:00:00Z", expires_at: "2026-11-21T00:00:00Z" },
    "/expires_at",
    "invalid_range",
  ],
  ["with an unknown mode", { destination, utm_mode: "mix" }, "/utm_mode", "invalid_choice"],
  ["with an unknown campaign field", { destination, utm: { gclid: "x" } }, "/utm/gclid", "unknown_field"],
  ["with a long campaign", { destination, utm: { utm_source: "x".repeat(201) } }, "/utm/utm_source", "too_long"],
  ["with a short password", { destination, password: "abc" }, "/password", "too_short"],
  ["with a long password", { destination, password: "x".repeat(257) }, "/password", "too_long"],
  [
    "with 21 rules",
    { destination, rules: Array.from({ length: 21 }, () => ({ when: { device: "Mobile" }, destination })) },
    "/rules",
    "too_many",
  ],
  ["with a rule without conditions", { destination, rules: [{ when: {}, destination }] }, "/rules/0/when", "required"],
  ["with an unknown condition", { destination, rules: [{ when: { moon: "full" }, destination }] }, "/rules/0/when/moon", "unknown_field"],
  [
    "with a rule without days",
    { destination, rules: [{ when: { date: { from: "2026-02-30" } }, destination }] },
    "/rules/0/when/date/from",
    "invalid_date",
  ],
  ["with a rule for a range without ends", withDate({}), "/rules/0/when/date", "required"],
  ["with a rule that ends before it starts", withDate({ from: "2026-12-26", to: "2026-12-25" }), "/rules/0/when/date/to", "invalid_range"],
  [
    "with a rule for an empty time range",
    withDate({ from: "2026-12-26T00:00:00Z", to: "2026-12-26T01:00:00+01:00" }),
    "/rules/0/when/date/to",
    "invalid_range",
  ],
  // Midnight in Berlin, the site's time zone, was half an hour before.
  [
    "with a rule that starts after the end of its last day",
    withDate({ from: "2026-12-25T23:30:00Z", to: "2026-12-25" }),
    "/rules/0/when/date/to",
    "invalid_range",
  ],
])("rejects a link %s", async (_, body, pointer, code) => {
  expect(await ask("POST", PATH, body)).toMatchObject({ status: 422, body: { code: "validation_failed", errors: [{ pointer, code }] } })
})

test.each([{ from: "2026-12-25", to: "2026-12-25" }, { to: "2026-12-25" }, { from: "2026-12-25T22:30:00Z", to: "2026-12-25" }])(
  "accepts a rule for %j, which matches at some time",
  async (date) => {
    expect((await make(withDate(date))).rules).toEqual([{ when: { date }, destination }])
  },
)

test("rejects a change based on an outdated version without changing anything", async () => {
  const link = await make({ destination })
  const path = `${PATH}/${link.id}`
  expect((await ask("PATCH", path, { title: "Two", version: 1 })).body).toMatchObject({ title: "Two", version: 2 })
  expect(await ask("PATCH", path, { title: "Three", version: 1 })).toMatchObject({
    status: 409,
    body: { code: "version_conflict", current: { id: link.id, title: "Two", version: 2 } },
  })
  expect(await ask("PATCH", path, { title: "Three" }, { "if-match": '"1"' })).toMatchObject({ status: 412 })
  expect((await ask("PATCH", path, { title: "Two" })).body).toMatchObject({ version: 2 })
  const { body } = await ask("GET", path)
  expect((await ask("PATCH", path, body)).body).toEqual(body)
})

test("records destinations but no password in the history of a link", async () => {
  const link = await make({ destination, password: "open sesame" })
  await ask("PATCH", `${PATH}/${link.id}`, { destination: "https://example.com/2", password: "other words" })
  const { body } = await instance.api.get("/api/private/organizations/1/audit", undefined, {
    cookie: await instance.signIn({ role: "owner" }),
  })
  const [changed, made] = (body as { data: { action: string; changes: Record<string, unknown> }[] }).data
  expect(changed).toMatchObject({
    action: "links.link.update",
    changes: { destination: [destination, "https://example.com/2"], password: ["(redacted)", "(redacted)"] },
  })
  expect(made).toMatchObject({ action: "links.link.create", changes: { password: [null, "(redacted)"] } })
  expect(JSON.stringify(body)).not.toContain("argon2")
})
