import { afterAll, beforeAll, expect, test } from "bun:test"
import { createOutbound } from "../../src/services/outbound/outbound.ts"
import { resolveAt } from "../../src/services/outbound/socket.ts"
import { fixedClock } from "../kit.ts"
import { nameServer } from "../services/oidc/name-server.ts"

/** Threat `ssrf`: no spelling of an address makes the server connect to itself or its network. */

/** Every form that the URL standard, a resolver or a socket library may read as one IPv4 address. */
function spellingsOf(address: string): string[] {
  const [a, b, c, d] = address.split(".").map(Number) as [number, number, number, number]
  const whole = ((a * 256 + b) * 256 + c) * 256 + d
  const hex = (value: number) => value.toString(16)
  const wide = (text: string) => text.replace(/[0-9.]/g, (char) => (char === "." ? "。" : String.fromCharCode(char.charCodeAt(0) + 0xfee0)))
  const high = hex(a * 256 + b)
  const low = hex(c * 256 + d)
  return [
    address,
    `${address}.`,
    String(whole),
    `0x${hex(whole)}`,
    `0${whole.toString(8)}`,
    `0x${hex(a)}.0x${hex(b)}.0x${hex(c)}.0x${hex(d)}`,
    `0${a.toString(8)}.0${b.toString(8)}.0${c.toString(8)}.0${d.toString(8)}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`,
    wide(address),
    address.replaceAll(".", "%2e"),
    `%3${String(a)[0]}${String(a).slice(1)}.${b}.${c}.${d}`,
    `[::ffff:${address}]`,
    `[::ffff:${high}:${low}]`,
    `[::${address}]`,
    `[64:ff9b::${high}:${low}]`,
    `[2002:${high}:${low}::1]`,
    `hooks.example@${address}`,
  ]
}

const INSIDE = ["127.0.0.1", "169.254.169.254", "10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1"]
const OTHERS = [
  ...["localhost", "LOCALHOST", "localhost.", "a.localhost", "printer.local", "db.internal.", "0", "0.0.0.0", "127.127.127.127"],
  ...["[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[2001:db8::1]", "[3fff::1]"],
  ...["inward.example", "mixed.example", "later.example", "six.example", "mapped.example"],
]
const SPELLINGS = [...INSIDE.flatMap(spellingsOf), ...OTHERS]

/** A sink on loopback that counts connections, not requests. */
function sink() {
  let connections = 0
  const socket = { open: () => void connections++, data: () => {} }
  const four = Bun.listen({ hostname: "0.0.0.0", port: 0, socket })
  const six = Bun.listen({ hostname: "::1", port: four.port, socket })
  const stop = () => {
    four.stop(true)
    six.stop(true)
  }
  return { port: four.port, connections: () => connections, stop }
}

let inside: ReturnType<typeof sink>
let dns: Awaited<ReturnType<typeof nameServer>>
let outside: Bun.Server<undefined>
let location = ""
beforeAll(async () => {
  inside = sink()
  dns = await nameServer(
    {},
    {
      "inward.example": [["127.0.0.1"]],
      "mixed.example": [["192.0.2.99", "127.0.0.1"]],
      // The first look-up, of IPv4 and IPv6 each, is for the request that is redirected here.
      "later.example": [["10.0.0.1"], ["127.0.0.1"]],
      "six.example": [["::1"]],
      "mapped.example": [["::ffff:127.0.0.1"]],
      "outside.example": [["127.0.0.2"]],
    },
  )
  // 127.0.0.2 stands for the public network.
  outside = Bun.serve({ port: 0, hostname: "127.0.0.2", fetch: () => new Response(null, { status: 307, headers: { location } }) })
})
afterAll(() => {
  inside.stop()
  dns[Symbol.dispose]()
  outside.stop(true)
})

function client() {
  const settings = { enabled: true, allowHttp: true, ports: [80, inside.port, outside.port!], privateRanges: ["127.0.0.2/32"] }
  return createOutbound({ settings, clock: fixedClock("2026-11-27T12:00:00Z"), version: "1", resolve: resolveAt([dns.address]) })
}
const REFUSAL = { code: "blocked_address", message: "Requests to this address are not allowed." }

test("covers at least 120 spellings", () => expect(new Set(SPELLINGS).size).toBeGreaterThanOrEqual(120))

test.each(SPELLINGS)("connects to nothing for %s, asked directly or by a redirect", async (host) => {
  const { fetch } = client()
  const url = `http://${host}:${inside.port}/latest/meta-data`
  const failure = (work: Promise<unknown>) => work.catch((error: unknown) => error)
  expect(await failure(fetch(url, { method: "POST", body: "{}" }))).toMatchObject(REFUSAL)
  location = /^[ -~]+$/.test(url) ? url : encodeURI(url)
  const redirected = await failure(fetch(`http://outside.example:${outside.port}/`))
  // A redirect to something that is no URL at all has a code of its own.
  expect(redirected).toMatchObject(URL.canParse(url) ? REFUSAL : { code: "outbound_failed", reason: "invalid_redirect" })
  expect(inside.connections()).toBe(0)
})

test("the sink notices a connection", async () => {
  const socket = await Bun.connect({ hostname: "127.0.0.1", port: inside.port, socket: { data: () => {} } })
  while (inside.connections() === 0) await Bun.sleep(1)
  socket.end()
})
