import { expect, test } from "bun:test"
import { linkStand, PATH } from "./kit.ts"

const destination = "https://hidden.example/secret"
const form = (password: string) => ({
  method: "POST",
  body: `password=${encodeURIComponent(password)}`,
  headers: { "content-type": "application/x-www-form-urlencoded" },
})
const cookieOf = (answer: Response) => answer.headers.get("set-cookie")?.split(";")[0] ?? ""

test("reveals the destination of a protected link only with its password", async () => {
  await using stand = await linkStand({ settings: { base_url: "http://localhost:9000" } })
  const { slug, id, has_password } = await stand.make({ destination, password: "open sesame" })
  expect(has_password).toBe(true)
  const path = `/l/${slug}?a=1`
  const page = await stand.visit(path)
  expect({ status: page.status, cache: page.headers.get("cache-control"), location: page.headers.get("location") }).toEqual({
    status: 200,
    cache: "no-store",
    location: null,
  })
  expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'")
  expect(await page.text()).not.toContain("hidden.example")
  const wrong = await stand.visit(path, form("wrong words"))
  expect({ status: wrong.status, cookie: wrong.headers.get("set-cookie") }).toEqual({ status: 403, cookie: null })
  const right = await stand.visit(path, form("open sesame"))
  expect(right.headers.get("set-cookie")).toMatch(
    new RegExp(`^unlock-l-${id}=\\d+\\.[\\w-]{43}; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax$`),
  )
  expect(await right.text()).not.toContain("hidden.example")
  const cookie = cookieOf(right)
  expect((await stand.visit(path, { headers: { cookie } })).headers.get("location")).toBe("https://hidden.example/secret?a=1")
  await stand.recorded()
  expect((await stand.ask("GET", `${PATH}/${id}/stats`)).body.clicks).toMatchObject({ total: 1 })

  const other = await stand.make({ destination, password: "open sesame" })
  expect((await stand.visit(`/l/${other.slug}`, { headers: { cookie: cookie.replace(String(id), String(other.id)) } })).status).toBe(200)
  expect((await stand.visit(path, { headers: { cookie: `${cookie.slice(0, -1)}x` } })).status).toBe(200)
  stand.instance.clock.advance(3_600_000)
  expect((await stand.visit(path, { headers: { cookie } })).status).toBe(200)
})

test("invalidates unlock cookies when the password changes, and needs none after it is removed", async () => {
  await using stand = await linkStand()
  const { slug, id } = await stand.make({ destination, password: "open sesame" })
  const cookie = cookieOf(await stand.visit(`/l/${slug}`, form("open sesame")))
  await stand.ask("PATCH", `${PATH}/${id}`, { title: "Only the title" })
  expect((await stand.visit(`/l/${slug}`, { headers: { cookie } })).status).toBe(302)
  await stand.ask("PATCH", `${PATH}/${id}`, { password: "other words" })
  expect((await stand.visit(`/l/${slug}`, { headers: { cookie } })).status).toBe(200)
  await stand.ask("PATCH", `${PATH}/${id}`, { password: null })
  expect((await stand.visit(`/l/${slug}`)).status).toBe(302)
  expect((await stand.visit(`/l/${slug}`, form("other words"))).status).toBe(405)
})

test("allows five password attempts per minute, address and link", async () => {
  await using stand = await linkStand()
  const [one, two] = [
    await stand.make({ destination, password: "open sesame" }),
    await stand.make({ destination, password: "open sesame" }),
  ]
  const address = "192.0.2.9"
  const tried = async (slug: string, password: string) => (await stand.visit(`/l/${slug}`, { ...form(password), address })).status
  for (let guess = 0; guess < 5; guess++) expect(await tried(one.slug, `guess ${guess}`)).toBe(403)
  expect(await tried(one.slug, "open sesame")).toBe(429)
  expect(await tried(two.slug, "open sesame")).toBe(200)
  expect((await stand.visit(`/l/${one.slug}`, form("open sesame"))).status).toBe(200)
  stand.instance.clock.advance(60_000)
  expect(await tried(one.slug, "open sesame")).toBe(200)
}, 20_000)

test("allows 30 tries per minute and address over all links", async () => {
  await using stand = await linkStand()
  const slugs: string[] = []
  for (let i = 0; i < 7; i++) slugs.push((await stand.make({ destination, password: "open sesame" })).slug)
  const unlock = async (slug: string) => (await stand.visit(`/l/${slug}`, { ...form(""), address: "192.0.2.9" })).status
  for (const slug of slugs.slice(0, 6)) for (let guess = 0; guess < 5; guess++) expect(await unlock(slug)).toBe(403)
  expect(await unlock(slugs[6]!)).toBe(429)
})

test("computes no hash for an empty password or for a link that is unavailable anyway", async () => {
  await using stand = await linkStand()
  const { slug, id } = await stand.make({ destination, password: "open sesame" })
  const other = await stand.make({ destination })
  // From now on every request that needs a hash is answered with 503.
  stand.instance.app.instance.accounts.passwords.close()
  expect((await stand.visit(`/l/${slug}`, form(""))).status).toBe(403)
  expect((await stand.visit(`/l/${slug}`, form("open sesame"))).status).toBe(503)
  const password = "other words"
  expect(await stand.ask("POST", PATH, { destination, slug, password })).toMatchObject({ status: 409, body: { code: "slug_taken" } })
  for (const [body, code] of [
    [{ password, slug: other.slug }, "slug_taken"],
    [{ password, version: 7 }, "version_conflict"],
    [{ password, domain_id: 9 }, "domain_not_found"],
  ] as const)
    expect((await stand.ask("PATCH", `${PATH}/${id}`, body)).body.code).toBe(code)
  expect((await stand.ask("PATCH", `${PATH}/${id}`, { password })).status).toBe(503)
})

test("distinguishes the unlock cookies of a link and a shared view with the same id", async () => {
  await using stand = await linkStand({ settings: { base_url: "https://localhost" } })
  const owner = { cookie: `__Host-${await stand.instance.signIn({ role: "owner" })}` }
  const link = (await stand.ask("POST", PATH, { destination, password: "open sesame" }, owner)).body
  const share = (await stand.ask("POST", "/api/private/sites/1/shares", { name: "Board", password: "correct horse" }, owner)).body
  expect(share.id).toBe(link.id)
  const ofLink = cookieOf(await stand.visit(`/l/${link.slug}`, form("open sesame")))
  const unlocked = await stand.instance.api.post(`/api/share/s/${share.slug}/unlock`, { password: "correct horse" })
  const ofShare = unlocked.headers.get("set-cookie")!.split(";")[0]!
  expect([ofLink, ofShare].map((cookie) => cookie.split("=")[0])).toEqual([`__Host-unlock-l-${link.id}`, `__Host-unlock-${share.id}`])
  expect((await stand.visit(`/l/${link.slug}`, { headers: { cookie: `${ofShare}; ${ofLink}` } })).status).toBe(302)
})
