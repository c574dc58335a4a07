import { afterAll, expect, test } from "bun:test"
import { linkStand, PATH } from "./kit.ts"

const stand = await linkStand({
  settings: { base_url: "http://localhost:9000", link_schemes: "mailto,javascript,app", link_denied_hosts: "*.bad.example,evil.example" },
})
afterAll(() => stand[Symbol.asyncDispose]())
const { ask, make, visit } = stand

test.each([
  ["javascript:alert(1)", "scheme"],
  ["JaVaScRiPt:alert(1)", "scheme"],
  [" javascript:alert(1)", "scheme"],
  ["java\tscript:alert(1)", "control_characters"],
  ["data:text/html,<script>", "scheme"],
  ["vbscript:x", "scheme"],
  ["file:///etc/passwd", "scheme"],
  ["blob:https://example.com/x", "scheme"],
  ["about:blank", "scheme"],
  ["ftp://example.com/", "scheme"],
  ["tel:+491234", "scheme"],
  ["/relative", "relative"],
  ["relative", "relative"],
  ["", "relative"],
  ["//example.com/", "relative"],
  ["https:/example.com", "relative"],
  ["https:example.com", "relative"],
  ["https://", "empty_host"],
  ["https:///path", "empty_host"],
  ["https://:443/", "empty_host"],
  ["https://?x", "empty_host"],
  ["https://user@example.com/", "userinfo"],
  ["https://user:secret@example.com/", "userinfo"],
  ["https://example.com@evil.example/", "userinfo"],
  ["https://example.com\\@evil.example/", "backslash"],
  ["https:\\\\example.com", "backslash"],
  ["https://example.com/\u0000", "control_characters"],
  ["https://example.com/\r\nSet-Cookie: a=b", "control_characters"],
  ["https://example.com/%0d%0aSet-Cookie:%20a=b", "control_characters"],
  ["https://example.com/%0A", "control_characters"],
  ["https://example.com/\u0085", "control_characters"],
  ["https://example.com:99999/", "invalid"],
  ["https://exa mple.com/", "invalid"],
  ["https://%65xample.com/", "invalid"],
  ["https://[::1/", "invalid"],
  [`https://example.com/${"x".repeat(2_030)}`, "too_long"],
])("rejects %j in every field", async (destination, reason) => {
  const { id } = await make({ destination: "https://example.com/" })
  for (const [method, path, body, pointer] of [
    ["POST", PATH, { destination }, "/destination"],
    ["PATCH", `${PATH}/${id}`, { destination }, "/destination"],
    ["PATCH", `${PATH}/${id}`, { expired_destination: destination }, "/expired_destination"],
    ["PATCH", `${PATH}/${id}`, { rules: [{ when: { device: "Mobile" }, destination }] }, "/rules/0/destination"],
  ] as const)
    expect(await ask(method, path, body)).toMatchObject({ status: 422, body: { code: "invalid_destination", reason, pointer } })
})

test.each([
  "https://example.com",
  "https://EXAMPLE.com/A%20b+c?x=%7E&x=#Y",
  "http://192.0.2.1:8080/x",
  "https://[2001:db8::1]/x",
  "https://example.com/?next=https://other.example/@x",
  "https://example.com./",
])("keeps %s byte for byte", async (destination) => {
  const link = await make({ destination })
  expect(link.destination).toBe(destination)
  expect((await visit(`/l/${link.slug}`)).headers.get("location")).toBe(destination)
})

test("escapes characters that a header cannot carry and writes host names in ASCII", async () => {
  expect((await make({ destination: "https://münchen.example/straße?q=ü#ß" })).destination).toBe(
    "https://xn--mnchen-3ya.example/stra%C3%9Fe?q=%C3%BC#%C3%9F",
  )
})

test("allows listed schemes to users who can change the site, and schemes that run code to no one", async () => {
  expect((await make({ destination: "mailto:someone@example.com" })).destination).toBe("mailto:someone@example.com")
  const editor = { cookie: await stand.instance.signIn({ role: "editor" }) }
  const refused = await ask("POST", PATH, { destination: "mailto:someone@example.com" }, editor)
  expect(refused).toMatchObject({ status: 422, body: { code: "invalid_destination", reason: "scheme" } })
})

test.each([
  ["javascript:alert(1)", "This scheme is not allowed. Use a URL that begins with https:// or http://."],
  ["example.com", "Enter a full URL, such as https://example.com/page."],
  ["https://ada:secret@example.com/", "The URL contains a user name or password before the @. Remove it."],
])("rejects %s with an explanation", async (destination, detail) => {
  expect(await ask("POST", PATH, { destination })).toMatchObject({ status: 422, body: { detail } })
})

test.each(["https://bad.example/", "https://ok.example/"])("%s is not below a denied host", async (destination) => {
  expect((await ask("POST", PATH, { destination })).status).toBe(201)
})
test.each(["https://a.bad.example/", "https://A.BAD.example./", "https://evil.example/x"])("%s is not allowed", async (destination) => {
  expect(await ask("POST", PATH, { destination })).toMatchObject({ status: 422, body: { code: "destination_not_allowed" } })
})

test("rejects every host that is not on the list of allowed hosts", async () => {
  await using strict = await linkStand({ settings: { link_allowed_hosts: "example.com,*.example.org" } })
  for (const destination of ["https://example.com/", "https://a.b.example.org/"])
    expect((await strict.ask("POST", PATH, { destination })).status).toBe(201)
  for (const destination of ["https://www.example.com/", "https://example.org/", "https://example.com.evil.example/"])
    expect(await strict.ask("POST", PATH, { destination })).toMatchObject({ body: { code: "destination_not_allowed" } })
})

const own = (slug: string) => `http://localhost:9000/l/${slug}`

test("rejects a link to itself, a redirect loop and a fourth link in a chain, whichever link changes", async () => {
  const loop = { status: 422, body: { code: "redirect_loop" } }
  expect(await ask("POST", PATH, { slug: "self", destination: own("SELF") })).toMatchObject(loop)
  const c = await make({ slug: "chain-c", destination: "https://example.com/" })
  const b = await make({ slug: "chain-b", destination: own("chain-c") })
  const a = await make({ slug: "chain-a", destination: own("chain-b") })
  expect((await visit("/l/chain-a")).status).toBe(302)
  expect(await ask("POST", PATH, { slug: "chain-0", destination: own("chain-a") })).toMatchObject(loop)
  expect(await ask("PATCH", `${PATH}/${c.id}`, { destination: own("chain-a") })).toMatchObject(loop)
  await make({ slug: "far", destination: "https://example.com/" })
  expect(await ask("PATCH", `${PATH}/${c.id}`, { destination: own("far") })).toMatchObject(loop)
  expect(await ask("PATCH", `${PATH}/${c.id}`, { expired_destination: own("far") })).toMatchObject(loop)
  expect(await ask("PATCH", `${PATH}/${c.id}`, { rules: [{ when: { device: "Mobile" }, destination: own("far") }] })).toMatchObject(loop)
  expect((await ask("PATCH", `${PATH}/${a.id}`, { destination: "https://example.com/" })).status).toBe(200)
  expect((await ask("PATCH", `${PATH}/${c.id}`, { destination: own("far") })).status).toBe(200)
  expect((await ask("PATCH", `${PATH}/${b.id}`, { title: "Still fine" })).status).toBe(200)
})

test.each(["//l/written", "/l//written", "/l/%77ritten", "/l/%57RITTE%6e?x#y", "/%6c/written", "/other/../l/./written"])(
  "recognizes %s on the instance's own host as a link",
  async (path) => {
    const refused = await ask("POST", PATH, { slug: "written", destination: `http://localhost:9000${path}` })
    expect(refused).toMatchObject({ status: 422, body: { code: "redirect_loop" } })
  },
)

test.each(["/l/not%2fours", "/l/%20ours", "/elsewhere/l/ours"])(
  "does not recognize %s on the instance's own host as a link of this name",
  async (path) => {
    expect((await ask("POST", PATH, { destination: `http://localhost:9000${path}` })).status).toBe(201)
  },
)

test("treats a needlessly escaped slug as the same slug", async () => {
  await make({ slug: "early-bird", destination: "https://example.com/early" })
  for (const written of ["%65arly-bird", "early%2Dbird", "EARLY%2dBIR%44"])
    expect((await visit(`/l/${written}?a=1`)).headers.get("location")).toBe("https://example.com/early?a=1")
  for (const other of ["early%2fbird", "early%00bird", "early%bird", "early%252Dbird"])
    expect((await visit(`/l/${other}`)).status).toBe(404)
})

test("rejects a slug that would close a redirect loop", async () => {
  await make({ slug: "open-end", destination: own("not-yet") })
  expect(await ask("POST", PATH, { slug: "not-yet", destination: own("open-end") })).toMatchObject({ body: { code: "redirect_loop" } })
})

test("rejects a request that would pass through a fourth link", async () => {
  await make({ slug: "hop-d", destination: "https://example.com/end" })
  await make({ slug: "hop-c", destination: own("hop-d") })
  await make({ slug: "hop-b", destination: own("hop-c") })
  // The path of each request decides where it leads, so saving cannot detect it.
  const open = await make({ slug: "hop-open", destination: "http://localhost:9000/l", forward_path: true })
  const at = async (path: string) => {
    const answer = await visit(path)
    return [answer.status, answer.headers.get("location"), answer.headers.get("cache-control")]
  }
  expect(await at("/l/hop-open/hop-c")).toEqual([302, own("hop-c"), "no-store"])
  expect(await at("/l/hop-open/hop-b")).toEqual([410, null, "no-store"])
  expect(await at("/l/hop-b")).toEqual([302, own("hop-c"), "no-store"])
  // Also by a rule that takes effect later.
  const from = new Date(stand.instance.clock.now() + 60_000).toISOString()
  const rules = [{ when: { date: { from } }, destination: "http://localhost:9000/l/" }]
  await make({ slug: "hop-rule", destination: "https://example.com/before", forward_path: true, rules })
  expect(await at("/l/hop-rule/hop-b")).toEqual([302, "https://example.com/before/hop-b", "no-store"])
  stand.instance.clock.advance(60_000)
  expect(await at("/l/hop-rule/hop-b")).toEqual([410, null, "no-store"])
  await stand.recorded()
  expect((await ask("GET", `${PATH}/${open.id}/stats`)).body.clicks).toMatchObject({ total: 1 })
})

test("does not redirect a link with forwarded paths through itself more than three times", async () => {
  await make({ slug: "again", destination: "http://localhost/l/", forward_path: true })
  const at = async (path: string) => {
    const { status, headers } = await visit(path)
    return [status, headers.get("location")]
  }
  expect(await at("/l/again/again/again")).toEqual([302, "http://localhost/l/again/again"])
  expect(await at("/l/again/again/again/again")).toEqual([410, null])
})
