import { expect, test } from "bun:test"
import { linkStand, PATH } from "./kit.ts"

const destination = "https://hidden.example/secret"
const form = (password: string) => ({
  method: "POST",
  body: `password=${encodeURIComponent(password)}`,
  headers: { "content-type": "application/x-www-form-urlencoded" },
})
const cookieOf = (answer: Response) => answer.headers.get("set-cookie")?.split(";")[0] ?? ""

test("a protected link tells where it leads only to whoever has its password", async () => {
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
    new RegExp(`^unlock-${id}=\\d+\\.[\\w-]{43}; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax$`),
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

test("another password ends what the one before has unlocked; no password needs none", async () => {
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

test("five tries a minute from one address for one link", async () => {
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
