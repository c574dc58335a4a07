import { afterAll, expect, test } from "bun:test"
import { linkStand, PATH } from "./kit.ts"

const stand = await linkStand()
afterAll(() => stand[Symbol.asyncDispose]())
const { ask, make } = stand
const { instance } = stand
const destination = "https://example.com/"
const DAY = 86_400_000

test("generates slugs of seven unambiguous characters", async () => {
  for (let round = 0; round < 20; round++) expect((await make({ destination })).slug).toMatch(/^[2-9a-km-zA-HJ-NP-Z]{7}$/)
})

test.each([
  ["a b", "invalid_slug"],
  ["ä", "invalid_slug"],
  ["a/b", "invalid_slug"],
  ["x".repeat(65), "invalid_slug"],
  ["", "invalid_slug"],
  ...["api", "share", "assets", "p", "l", "js", "count", "admin", "login", "signin", "setup", "health", "metrics", "ADMIN"].map((slug) => [
    slug,
    "slug_reserved",
  ]),
  ["robots.txt", "slug_reserved"],
  ["favicon.ico", "slug_reserved"],
  [".well-known", "slug_reserved"],
])("rejects the slug %j with %s", async (slug, code) => {
  expect(await ask("POST", PATH, { destination, slug })).toMatchObject({ status: 422, body: { code } })
  const { id } = await make({ destination })
  expect(await ask("PATCH", `${PATH}/${id}`, { slug })).toMatchObject({ status: 422, body: { code } })
})

test("suggests three free slugs for a taken one, whichever organization holds it", async () => {
  await make({ destination, slug: "Taken" })
  const { sites, organizations } = instance.app.instance
  const other = await organizations.create({ name: "Other" })
  const site = await sites.create(other.id, { name: "Other", hosts: ["other.example"] })
  const otherOwner = { cookie: await instance.signIn({ role: "owner", organizationId: other.id }) }
  const path = `/api/private/sites/${site.id}/links`
  const [own, theirs] = [
    await ask("POST", PATH, { destination, slug: "tAKEN" }),
    await ask("POST", path, { destination, slug: "tAKEN" }, otherOwner),
  ]
  expect(own).toMatchObject({ status: 409, body: { code: "slug_taken", suggestions: ["tAKEN-2", "tAKEN-3", "tAKEN-4"] } })
  const { request_id: _, ...mine } = own.body
  const { request_id: __, ...others } = theirs.body as { request_id: string }
  expect(others).toEqual(mine)
  expect(await ask("GET", `${PATH}/slug-check?slug=taken`)).toMatchObject({
    body: { available: false, reason: "slug_taken", suggestions: ["taken-2", "taken-3", "taken-4"] },
  })
  expect((await ask("GET", `${PATH}/slug-check?slug=free-one`)).body).toEqual({ available: true })
  expect((await ask("GET", `${PATH}/slug-check?slug=admin`)).body).toMatchObject({ available: false, reason: "slug_reserved" })
})

test("restores a deleted link within 30 days unless its slug was taken with force", async () => {
  await using fresh = await linkStand()
  const { clock } = fresh.instance
  const link = await fresh.make({ destination, slug: "poster" })
  expect((await fresh.ask("DELETE", `${PATH}/${link.id}`)).status).toBe(204)
  for (const [method, path] of [
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["GET", "/stats"],
    ["GET", "/qr"],
  ])
    expect(await fresh.ask(method!, `${PATH}/${link.id}${path}`, method === "PATCH" ? {} : undefined)).toMatchObject({
      status: 404,
      body: { code: "link_not_found" },
    })
  expect(await fresh.ask("POST", PATH, { destination, slug: "POSTER" })).toMatchObject({
    status: 409,
    body: { code: "slug_recently_used" },
  })
  expect((await fresh.ask("POST", `${PATH}/${link.id}/restore`)).body).toMatchObject({ id: link.id, slug: "poster", state: "active" })
  expect((await fresh.visit("/l/poster")).status).toBe(302)

  await fresh.ask("DELETE", `${PATH}/${link.id}`)
  expect((await fresh.ask("POST", PATH, { destination: "https://example.com/new", slug: "poster", force: true })).status).toBe(201)
  expect((await fresh.visit("/l/poster")).headers.get("location")).toBe("https://example.com/new")
  expect(await fresh.ask("POST", `${PATH}/${link.id}/restore`)).toMatchObject({ status: 409, body: { code: "slug_taken" } })

  const late = await fresh.make({ destination, slug: "late" })
  await fresh.ask("DELETE", `${PATH}/${late.id}`)
  clock.advance(31 * DAY)
  const owner = { cookie: await fresh.instance.signIn({ role: "owner" }) }
  expect(await fresh.ask("POST", `${PATH}/${late.id}/restore`, undefined, owner)).toMatchObject({
    status: 404,
    body: { code: "link_not_found" },
  })
  await fresh.instance.runJobs()
  expect(await fresh.ask("POST", PATH, { destination, slug: "late" }, owner)).toMatchObject({ body: { code: "slug_recently_used" } })
  clock.advance(60 * DAY)
  const later = { cookie: await fresh.instance.signIn({ role: "owner" }) }
  expect((await fresh.ask("POST", PATH, { destination, slug: "late" }, later)).status).toBe(201)
})

test("rejects a reserved slug for another organization even with force", async () => {
  const link = await make({ destination, slug: "printed" })
  await ask("DELETE", `${PATH}/${link.id}`)
  const { sites, organizations } = instance.app.instance
  const other = await organizations.create({ name: "Third" })
  const site = await sites.create(other.id, { name: "Third", hosts: ["third.example"] })
  const otherOwner = { cookie: await instance.signIn({ role: "owner", organizationId: other.id }) }
  const taking = await ask("POST", `/api/private/sites/${site.id}/links`, { destination, slug: "printed", force: true }, otherOwner)
  expect(taking).toMatchObject({ status: 409, body: { code: "slug_recently_used" } })
})

test("reserves a slug that a link gave up, and lets the link take it back", async () => {
  const link = await make({ destination, slug: "before" })
  await ask("PATCH", `${PATH}/${link.id}`, { slug: "after" })
  expect(await ask("POST", PATH, { destination, slug: "before" })).toMatchObject({ body: { code: "slug_recently_used" } })
  expect((await ask("PATCH", `${PATH}/${link.id}`, { slug: "before" })).body).toMatchObject({ slug: "before" })
})

test("releases a slug after 90 days, when its former link can no longer be restored", async () => {
  await using fresh = await linkStand()
  const { clock, app, signIn } = fresh.instance
  const other = await app.instance.organizations.create({ name: "Other" })
  const { id: siteId } = await app.instance.sites.create(other.id, { name: "Other", hosts: ["other.example"] })
  const link = await fresh.make({ destination, slug: "poster" })
  const renamed = await fresh.make({ destination, slug: "flyer" })
  await fresh.ask("DELETE", `${PATH}/${link.id}`)
  await fresh.ask("PATCH", `${PATH}/${renamed.id}`, { slug: "leaflet" })
  const take = async (slug: string) => {
    const otherOwner = { cookie: await signIn({ role: "owner", organizationId: other.id }) }
    return fresh.ask("POST", `/api/private/sites/${siteId}/links`, { destination: "https://example.com/theirs", slug }, otherOwner)
  }
  clock.advance(90 * DAY - 1)
  for (const slug of ["poster", "flyer"]) expect(await take(slug)).toMatchObject({ status: 409, body: { code: "slug_recently_used" } })
  clock.advance(1)
  for (const slug of ["poster", "flyer"]) expect(await take(slug)).toMatchObject({ status: 201, body: { slug } })
  expect((await fresh.visit("/l/poster")).headers.get("location")).toBe("https://example.com/theirs")
  const owner = { cookie: await signIn({ role: "owner" }) }
  // Its 30 days have long passed.
  expect(await fresh.ask("POST", `${PATH}/${link.id}/restore`, undefined, owner)).toMatchObject({ status: 404 })
  expect(await fresh.ask("PATCH", `${PATH}/${renamed.id}`, { slug: "flyer" }, owner)).toMatchObject({
    status: 409,
    body: { code: "slug_taken" },
  })
})
