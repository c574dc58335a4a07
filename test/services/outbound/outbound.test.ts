import { heapStats } from "bun:jsc"
import { expect, test } from "bun:test"
import { mayReach } from "../../../src/services/outbound/addresses.ts"
import { failureCode } from "../../../src/services/outbound/failure.ts"
import { createOutbound, excerptOf, type Outbound, type OutboundSettings } from "../../../src/services/outbound/outbound.ts"
import { resolveAt } from "../../../src/services/outbound/socket.ts"
import { fixedClock, temporaryFolder } from "../../kit.ts"
import { nameServer, type SuccessiveAddresses } from "../oidc/name-server.ts"
import { certificateFor, noOpenssl } from "./certificate.ts"

const clock = fixedClock("2026-11-21T12:00:00Z")
const STRICT: OutboundSettings = { enabled: true, allowHttp: false, ports: [80, 443, 8080, 8443], privateRanges: [] }

/** Creates a client with a fixed table of names that records its look-ups. */
function client(settings: Partial<OutboundSettings>, names: Record<string, readonly string[]> = {}, ca?: string) {
  const lookups: string[] = []
  const resolve = async (name: string) => {
    lookups.push(name)
    const addresses = names[name]
    if (!addresses) throw new Error("ENOTFOUND")
    return addresses
  }
  return {
    lookups,
    ...createOutbound({ settings: { ...STRICT, ...settings }, clock, version: "1.2.3", resolve, ...(ca !== undefined && { ca }) }),
  }
}

/** A server that no request may reach. It counts the requests it receives. */
function canary(answer: (request: Request) => Response | Promise<Response> = () => new Response("inside")) {
  let calls = 0
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      calls++
      return answer(request)
    },
  })
  const port = server.port!
  return { port, calls: () => calls, [Symbol.dispose]: () => void server.stop(true) }
}

/** Allows plain HTTP to this port on loopback, for tests that are not about addresses. */
const open = (port: number): Partial<OutboundSettings> => ({ allowHttp: true, ports: [port], privateRanges: ["127.0.0.0/8"] })
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "answered",
    (error: { code: string; message: string }) => error.code,
  )

/** URLs that are refused for other reasons than their host, whose spellings the threat `ssrf` covers. */
const SPELLINGS = [
  "http://hooks.example@127.0.0.1:PORT/",
  "http://127.0.0.1:PORT@hooks.example/",
  "http://user:pass@hooks.example:PORT/",
  "http://empty.example:PORT/",
  "http://nonsense.example:PORT/",
  "http:\\\\127.0.0.1:PORT\\",
  "http:127.0.0.1:PORT/",
  "ftp://hooks.example/",
  "file:///etc/passwd",
  "gopher://127.0.0.1:PORT/",
  "//127.0.0.1:PORT/",
  "hooks.example",
  "",
]

test.each(SPELLINGS)("no spelling of an address reaches the private network: %s", async (spelling) => {
  using inside = canary()
  const names = {
    "empty.example": [],
    "nonsense.example": ["127.0.0.1.nip"],
    "hooks.example": ["127.0.0.1"],
  }
  const { fetch } = client({ allowHttp: true, ports: [80, 443, inside.port] }, names)
  const failure = await fetch(spelling.replaceAll("PORT", String(inside.port))).catch((error: unknown) => error)
  expect(failure).toMatchObject({
    name: "AppError",
    code: "blocked_address",
    message: "Requests to this address are not allowed.",
    members: {},
  })
  expect(inside.calls()).toBe(0)
})

test.each([
  ["93.184.215.14", true],
  ["1.1.1.1", true],
  ["0.0.0.0", false],
  ["10.1.2.3", false],
  ["100.64.0.1", false],
  ["100.128.0.1", true],
  ["169.254.169.254", false],
  ["172.15.0.1", true],
  ["172.16.0.1", false],
  ["172.31.255.255", false],
  ["172.32.0.1", true],
  ["192.0.0.9", false],
  ["192.0.2.1", false],
  ["192.88.99.1", false],
  ["192.168.0.1", false],
  ["198.17.255.255", true],
  ["198.18.0.1", false],
  ["198.19.255.255", false],
  ["198.51.100.1", false],
  ["203.0.113.1", false],
  ["224.0.0.1", false],
  ["240.0.0.1", false],
  ["255.255.255.255", false],
  ["2606:2800:21f:cb07:6820:80da:af6b:8b2c", true],
  ["2001:200::1", true],
  ["2001:1ff::1", false],
  ["2001::1", false],
  ["2001:db8::1", false],
  ["2002::1", false],
  ["2003::1", true],
  ["3fff:fff::1", false],
  ["3ffe::1", true],
  ["4000::1", false],
  ["::", false],
  ["::1", false],
  ["::ffff:93.184.215.14", false],
  ["64:ff9b::5db8:d70e", false],
  ["fd00::1", false],
  ["fe80::1", false],
  ["ff02::1", false],
  ["fe80::1%eth0", false],
  ["no address", false],
])("%s is a public address: %p", (address, expected) => {
  expect(mayReach(address, [])).toBe(expected)
})

test("a URL is checked on saving by the rules that need no look-up", () => {
  const { check, lookups } = client({})
  const refused = (url: string) => {
    try {
      check(url)
      return false
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  expect(refused("https://hooks.example/x")).toBe(false)
  expect(refused("https://hooks.example:8443/x")).toBe(false)
  expect(["http://hooks.example/", "https://hooks.example:22/", "https://a@hooks.example/", "https://x.local./", "x"].map(refused)).toEqual(
    Array(5).fill("blocked_address"),
  )
  expect(lookups).toEqual([])
})

test("allows exactly the plain HTTP, ports and ranges that the operator configured", async () => {
  using server = canary((request) => new Response(request.headers.get("host")))
  const names = { "nas.example": ["127.0.0.1"], "other.example": ["10.0.0.1"] }
  const { fetch } = client(open(server.port), names)
  const answer = await fetch(`http://nas.example:${server.port}/`)
  expect(answer).toMatchObject({ status: 200, url: `http://nas.example:${server.port}/` })
  expect(new TextDecoder().decode(answer.body)).toBe(`nas.example:${server.port}`)
  expect(await codeOf(fetch(`http://other.example:${server.port}/`))).toBe("blocked_address")
  expect(await codeOf(fetch("http://nas.example:9999/"))).toBe("blocked_address")
  expect(await codeOf(fetch(`http://localhost:${server.port}/`))).toBe("blocked_address")
})

test("looks up a name once and connects to the address it checked", async () => {
  using inside = canary()
  let looks = 0
  const resolve = async () => (looks++ === 0 ? ["192.0.2.99"] : ["127.0.0.1"])
  const settings = { ...STRICT, allowHttp: true, ports: [inside.port], privateRanges: ["192.0.2.0/24"] }
  const { fetch } = createOutbound({ settings, clock, version: "1.2.3", resolve })
  const abort = AbortSignal.timeout(300)
  expect(await codeOf(fetch(`http://rebinding.example:${inside.port}/`, { signal: abort }))).toBe("outbound_failed")
  expect({ looks, calls: inside.calls() }).toEqual({ looks: 1, calls: 0 })
})

test.each<[string, SuccessiveAddresses, ReturnType<typeof failureCode>]>([
  ["turns inward at the second look-up", [["192.0.2.99"], ["127.0.0.1"]], "timeout"],
  ["points inward at once", [["127.0.0.1"]], "blocked_address"],
  ["hides an inward address behind a public one", [["192.0.2.99", "127.0.0.1"]], "blocked_address"],
  ["has an inward address in IPv6 only", [["192.0.2.99", "::1"]], "blocked_address"],
  ["spells IPv4 as IPv6", [["::ffff:127.0.0.1"]], "blocked_address"],
])("a name server that %s opens no connection to the private network", async (_, answers, expected) => {
  using inside = canary()
  using server = await nameServer({}, { "liar.example": answers })
  const settings = { ...STRICT, allowHttp: true, ports: [inside.port], privateRanges: ["192.0.2.0/24"] }
  const { fetch } = createOutbound({ settings, clock, version: "1.2.3", resolve: resolveAt([server.address]) })
  const failure = await fetch(`http://liar.example:${inside.port}/`, { timeoutMs: 300 }).catch((error: unknown) => error)
  // The public address of these tests answers nothing: depending on the network, the connection is refused or never made.
  const code = failureCode(failure)
  expect<typeof code>(code === "not_connected" ? "timeout" : code).toBe(expected)
  expect(inside.calls()).toBe(0)
  expect(server.asked.toSorted()).toEqual(["liar.example A", "liar.example AAAA"])
})

test("checks each redirect and follows at most three", async () => {
  using inside = canary()
  using server = canary((request) => {
    const { pathname, searchParams } = new URL(request.url)
    const left = Number(searchParams.get("left"))
    if (pathname === "/in") return Response.redirect(`http://169.254.169.254:${inside.port}/latest/meta-data`, 302)
    if (pathname === "/name") return Response.redirect(`http://inward.example:${inside.port}/`, 307)
    if (pathname === "/file") return new Response(null, { status: 302, headers: { location: "file:///etc/passwd" } })
    return left > 0 ? Response.redirect(`/?left=${left - 1}`, 302) : new Response("there")
  })
  const names = { "a.example": ["127.0.0.1"], "inward.example": ["10.0.0.1"] }
  const { fetch } = client({ ...open(server.port), ports: [server.port, inside.port] }, names)
  const base = `http://a.example:${server.port}`
  expect(await fetch(`${base}/?left=3`)).toMatchObject({ status: 200, url: `${base}/?left=0` })
  expect(await codeOf(fetch(`${base}/?left=4`))).toBe("outbound_failed")
  for (const path of ["/in", "/name", "/file"]) expect(await codeOf(fetch(base + path))).toBe("blocked_address")
  expect(inside.calls()).toBe(0)
})

test("does not send credentials to another origin after a redirect", async () => {
  const seen: Record<string, string | null>[] = []
  const note = ({ headers }: Request) =>
    void seen.push(Object.fromEntries(["authorization", "x-signature", "x-plain", "cookie"].map((name) => [name, headers.get(name)])))
  using second = canary((request) => {
    note(request)
    return new Response("ok")
  })
  using first = canary((request) => {
    note(request)
    const { pathname } = new URL(request.url)
    return pathname === "/same" ? Response.redirect("/", 307) : Response.redirect(`http://b.example:${second.port}/`, 307)
  })
  const names = { "a.example": ["127.0.0.1"], "b.example": ["127.0.0.1"] }
  const { fetch } = client({ ...open(first.port), ports: [first.port, second.port] }, names)
  const headers = { Authorization: "Bearer x", "X-Signature": "s", "X-Plain": "p", Cookie: "c" }
  await fetch(`http://a.example:${first.port}/same`, { method: "POST", body: "{}", headers, secretHeaders: ["X-Signature"] })
  const all = { authorization: "Bearer x", "x-signature": "s", "x-plain": "p", cookie: "c" }
  expect(seen).toEqual([all, all, { authorization: null, "x-signature": null, "x-plain": "p", cookie: null }])
})

test.each([
  [307, "POST", "POST hello"],
  [308, "POST", "POST hello"],
  [301, "POST", "GET "],
  [302, "POST", "GET "],
  [303, "POST", "GET "],
  [303, "PUT", "GET "],
  [302, "PUT", "PUT hello"],
])("after a redirect with %p, a %s continues as %s", async (status, method, expected) => {
  using server = canary(() => new Response())
  const echo = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) =>
      new URL(request.url).pathname === "/end"
        ? new Response(`${request.method} ${await request.text()}`)
        : new Response(null, { status, headers: { location: "/end" } }),
  })
  const { fetch } = client(open(echo.port!), { "a.example": ["127.0.0.1"] })
  const { body } = await fetch(`http://a.example:${echo.port}/`, { method, body: "hello" })
  echo.stop(true)
  expect(new TextDecoder().decode(body)).toBe(expected)
  expect(server.calls()).toBe(0)
})

test("reads a response up to its limit", async () => {
  using server = canary((request) => new Response(Buffer.alloc(Number(new URL(request.url).searchParams.get("bytes")), 97)))
  const { fetch } = client(open(server.port), { "a.example": ["127.0.0.1"] })
  const size = async (bytes: number) => (await fetch(`http://a.example:${server.port}/?bytes=${bytes}`)).body.byteLength
  expect(await size(1 << 20)).toBe(1 << 20)
  expect(await codeOf(size((1 << 20) + 1))).toBe("outbound_failed")
  expect(await codeOf(size(50 << 20))).toBe("outbound_failed")
})

test("does not decompress a response beyond its limit", async () => {
  const packed = Bun.gzipSync(Buffer.alloc(20 << 20, 97))
  using server = canary(() => new Response(packed, { headers: { "content-encoding": "gzip" } }))
  const { fetch } = client(open(server.port), { "a.example": ["127.0.0.1"] })
  expect(await codeOf(fetch(`http://a.example:${server.port}/`))).toBe("outbound_failed")
})

test("gives up after ten seconds, even if the server keeps sending slowly", async () => {
  const trickle = () =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          await Bun.sleep(200)
          controller.enqueue(new Uint8Array([97]))
        },
      }),
    )
  using server = canary(trickle)
  const { fetch } = client(open(server.port), { "a.example": ["127.0.0.1"] })
  const begun = performance.now()
  const failure = await fetch(`http://a.example:${server.port}/`).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: "outbound_failed", message: "The response took too long." })
  expect(performance.now() - begun).toBeWithin(9_500, 12_000)
}, 15_000)

test("gives up a look-up that never ends when the request times out", async () => {
  const { fetch } = createOutbound({ settings: STRICT, clock, version: "1.2.3", resolve: () => new Promise(() => {}) })
  expect(await codeOf(fetch("https://slow.example/", { signal: AbortSignal.timeout(50) }))).toBe("outbound_failed")
})

test("looks up and sends nothing when outbound requests are off", async () => {
  using server = canary()
  const { fetch, lookups, enabled } = client({ ...open(server.port), enabled: false }, { "a.example": ["127.0.0.1"] })
  expect(enabled).toBe(false)
  expect(await codeOf(fetch(`http://a.example:${server.port}/`))).toBe("outbound_disabled")
  expect(await codeOf(fetch(`http://127.0.0.1:${server.port}/`, { byOperator: true }))).toBe("outbound_disabled")
  expect({ lookups, calls: server.calls() }).toEqual({ lookups: [], calls: 0 })
})

test("trusts an address from the operator's configuration, but not its redirects", async () => {
  using inside = canary()
  using server = canary((request) =>
    new URL(request.url).pathname === "/away" ? Response.redirect(`http://127.0.0.1:${inside.port}/`, 302) : new Response("rates"),
  )
  const { fetch } = client({})
  const base = `http://127.0.0.1:${server.port}`
  expect(await fetch(`${base}/`, { byOperator: true })).toMatchObject({ status: 200 })
  expect(await codeOf(fetch(`${base}/`))).toBe("blocked_address")
  expect(await codeOf(fetch(`${base}/away`, { byOperator: true }))).toBe("blocked_address")
  expect(inside.calls()).toBe(0)
})

test.skipIf(noOpenssl)("sends the host name over TLS and checks the certificate against it on every connection", async () => {
  using folder = temporaryFolder()
  const { key, cert } = await certificateFor(folder.path, "hooks.example")
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { key, cert },
    fetch: (request) => new Response(request.headers.get("host")),
  })
  const names = { "hooks.example": ["127.0.0.1"], "other.example": ["127.0.0.1"] }
  const settings = { ports: [server.port!], privateRanges: ["127.0.0.0/8"] }
  const { fetch } = client(settings, names, cert)
  const unknown = client(settings, names)
  const at = (name: string) => `https://${name}:${server.port}/`
  const failures = async (work: Promise<unknown>) => work.catch(({ code, message }: { code: string; message: string }) => [code, message])
  const wrong = ["outbound_failed", "The server's TLS certificate is not valid for this host name."]
  expect(new TextDecoder().decode((await fetch(at("hooks.example"))).body)).toBe(`hooks.example:${server.port}`)
  // The same address again, with an open connection that was verified for another name.
  expect(await failures(fetch(at("other.example")))).toEqual(wrong)
  expect(await failures(fetch(at("127.0.0.1")))).toEqual(wrong)
  expect((await fetch(at("hooks.example."))).status).toBe(200)
  expect(await failures(unknown.fetch(at("hooks.example")))).toEqual(wrong)
  server.stop(true)
})

test("ignores a proxy from the environment", async () => {
  using proxy = canary(() => new Response("the proxy"))
  using server = canary(() => new Response("the server"))
  const script = new URL("behind-proxy.ts", import.meta.url).pathname
  const child = Bun.spawn([process.execPath, script, `http://127.0.0.1:${server.port}/`], {
    env: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` },
    stdout: "pipe",
  })
  expect(await new Response(child.stdout).text()).toBe("the server\n")
  expect(proxy.calls()).toBe(0)
})

test("sends the version as the user agent, unless the caller names another", async () => {
  using server = canary((request) => new Response(request.headers.get("user-agent")))
  const { fetch } = client(open(server.port), { "a.example": ["127.0.0.1"] })
  const agent = async (headers: Record<string, string>) =>
    new TextDecoder().decode((await fetch(`http://a.example:${server.port}/`, { headers })).body)
  expect([await agent({}), await agent({ "User-Agent": "Probe/1" })]).toEqual(["Footfall/1.2.3", "Probe/1"])
})

test("takes the time and the size that a request allows", async () => {
  using server = canary(async (request) => {
    await Bun.sleep(Number(new URL(request.url).searchParams.get("ms")))
    return new Response("x".repeat(100))
  })
  const { fetch } = client(open(server.port), { "a.example": ["127.0.0.1"] })
  const base = `http://a.example:${server.port}/?ms=`
  const failure = async (work: Promise<unknown>) => failureCode(await work.catch((error: unknown) => error))
  expect((await fetch(`${base}0`, { maxBytes: 100 })).body.byteLength).toBe(100)
  expect(await failure(fetch(`${base}0`, { maxBytes: 99 }))).toBe("too_large")
  expect(await failure(fetch(`${base}400`, { timeoutMs: 100 }))).toBe("timeout")
  expect((await fetch(`${base}100`, { timeoutMs: 5_000 })).status).toBe(200)
})

const HOOK = "/services/T024BE7LD/B024BE7LH"
test.each([
  ["another host", "https://new.example/hook?token=123456789", "https://new.example/hook"],
  ["the same path over HTTPS, which is a secret", `https://a.example${HOOK}`, "https://a.example/…/…/…"],
  ["a path of the same host", "/moved", "http://a.example:PORT/moved"],
  ["the private network", "http://169.254.169.254/latest/meta-data", "http://169.254.169.254/latest/meta-data"],
])("a redirect to %s fails where none is allowed, and names the new address", async (_, location, named) => {
  using server = canary((request) =>
    new URL(request.url).pathname === HOOK ? new Response(null, { status: 302, headers: { location } }) : new Response("followed"),
  )
  const { fetch } = client(open(server.port), { "a.example": ["127.0.0.1"] })
  const request = { method: "POST", body: "{}", follows: false }
  const failure = await fetch(`http://a.example:${server.port}${HOOK}`, request).catch((error: unknown) => error)
  expect(failureCode(failure)).toBe("redirected")
  expect((failure as Error).message).toBe(
    `The address redirects to ${named.replace("PORT", String(server.port))}. Enter the new address instead.`,
  )
  expect(server.calls()).toBe(1)
})

test.each([
  ["120", 120_000],
  ["0", 0],
  [" 7 ", 7_000],
  ["Sat, 21 Nov 2026 12:05:00 GMT", 300_000],
  ["Sat, 21 Nov 2026 11:00:00 GMT", 0],
  ["-1", undefined],
  ["1.5", undefined],
  ["soon", undefined],
  ["", undefined],
  ["99999999", 86_400_000],
  ["9".repeat(20), 86_400_000],
  ["Tue, 21 Nov 2096 12:05:00 GMT", 86_400_000],
  ["Sat, 99 Foo 2026 12:05:00 GMT", undefined],
])("reports the header Retry-After: %p", async (value, expected) => {
  using server = canary(() => new Response(null, { status: 429, headers: { "retry-after": value } }))
  const { fetch } = client(open(server.port), { "a.example": ["127.0.0.1"] })
  expect((await fetch(`http://a.example:${server.port}/`)).retryAfterMs).toBe(expected)
})

test.each<[ReturnType<typeof failureCode>, string, Partial<OutboundSettings>]>([
  ["name_not_resolved", "http://unknown.example:PORT/", {}],
  ["not_connected", "http://a.example:1/", { ports: [1] }],
  ["too_many_redirects", "http://a.example:PORT/loop", {}],
  ["invalid_redirect", "http://a.example:PORT/nowhere", {}],
  ["not_connected", "http://a.example:PORT/broken", {}],
  ["blocked_address", "http://10.0.0.1:PORT/", {}],
  ["outbound_disabled", "http://a.example:PORT/", { enabled: false }],
])("names the cause of a failure: %s at %s", async (expected, url, settings) => {
  using server = canary((request) => {
    const { pathname } = new URL(request.url)
    if (pathname === "/nowhere") return new Response(null, { status: 302, headers: { location: "http://[" } })
    return Response.redirect("/loop", 302)
  })
  const cut = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: (socket) => void socket.terminate() } })
  const port = url.endsWith("/broken") ? cut.port : server.port
  const { fetch } = client({ ...open(port), ...settings }, { "a.example": ["127.0.0.1"] })
  const failure = await fetch(url.replace("PORT", String(port))).catch((error: unknown) => error)
  cut.stop(true)
  expect(failureCode(failure)).toBe(expected)
})

test("names a request that its caller cancelled, and no cause for other errors", async () => {
  using server = canary(async () => {
    await Bun.sleep(5_000)
    return new Response()
  })
  const { fetch } = client(open(server.port), { "a.example": ["127.0.0.1"] })
  const failure = await fetch(`http://a.example:${server.port}/`, { signal: AbortSignal.timeout(50) }).catch((error: unknown) => error)
  expect([failureCode(failure), failureCode(new Error("bug"))]).toEqual(["aborted", undefined])
})

test("keeps nothing of a request at the signal of a run that sends thousands", async () => {
  using server = canary()
  const { fetch } = client(open(server.port), { "a.example": ["127.0.0.1"] })
  const run = new AbortController()
  const signals = () => {
    Bun.gc(true)
    return heapStats().objectTypeCounts.AbortSignal ?? 0
  }
  const before = signals()
  for (let i = 0; i < 200; i++) await fetch(`http://a.example:${server.port}/`, { signal: run.signal })
  await Bun.sleep(0)
  expect(signals() - before).toBeLessThan(50)
  run.abort()
  const failure = await fetch(`http://a.example:${server.port}/`, { signal: run.signal }).catch((error: unknown) => error)
  expect(failureCode(failure)).toBe("aborted")
})

test("shortens an excerpt and removes control characters", () => {
  const text = `ok\u0000\u001b[31m\u202e${"x".repeat(4_000)}`
  const excerpt = excerptOf(new TextEncoder().encode(text))
  expect(excerpt.startsWith("ok  [31m x")).toBe(true)
  expect(excerpt.length).toBeLessThanOrEqual(2_048)
})

test("a rejection reveals neither the rule nor the address", async () => {
  const messages = new Set<string>()
  const { fetch }: Outbound = client({}, { "a.example": ["10.0.0.1"] })
  for (const url of ["https://a.example/", "https://10.0.0.1/", "http://x.example/", "https://x.example:22/"])
    await fetch(url).catch(({ code, message, members }) => messages.add(JSON.stringify({ code, message, members })))
  expect([...messages]).toEqual(['{"code":"blocked_address","message":"Requests to this address are not allowed.","members":{}}'])
})
