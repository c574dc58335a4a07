import { afterAll, beforeAll, expect, test } from "bun:test"
import { sendRaw } from "./raw.ts"
import { openTarget, type Target } from "./target.ts"

let target: Target
beforeAll(async () => {
  target = await openTarget()
})
afterAll(() => target.close())

const HOST = "Host: stats.example\r\n"
const EVENT = '{"n":"pageview","u":"https://shop.example/"}'
const post = (headers: string, body: string) => `POST /api/event HTTP/1.1\r\n${headers}\r\n${body}`

// Requests rejected by the HTTP parser have no problem body; those rejected by our code have one.
test.each<[string, string | Uint8Array, number, string | undefined]>([
  ["bytes that are not HTTP", "\0\x01\x02\r\n\r\n", 400, undefined],
  [
    "a TLS handshake",
    Uint8Array.of(0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03, 0x0d, 0x0a, 0x0d, 0x0a),
    400,
    undefined,
  ],
  ["no Host", "GET /health HTTP/1.1\r\n\r\n", 400, undefined],
  ["no Host in HTTP/1.0", "GET /health HTTP/1.0\r\n\r\n", 400, "invalid_header"],
  ["an empty Host", "GET /health HTTP/1.1\r\nHost:\r\n\r\n", 400, "invalid_header"],
  ["two Hosts", "GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "invalid_header"],
  ["two equal Hosts", "GET /health HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "invalid_header"],
  ["a Host with a path", "GET /nothing HTTP/1.1\r\nHost: a/health\r\n\r\n", 400, "invalid_header"],
  ["a Host with a query", "GET /health HTTP/1.1\r\nHost: a?b\r\n\r\n", 400, "invalid_header"],
  ["a Host that no URL can contain", "GET /api/public/v1/key HTTP/1.1\r\nHost: xn--locahost-9cd.example\r\n\r\n", 400, "invalid_header"],
  ["a Host with a number out of range", "GET /api/public/v1/key HTTP/1.1\r\nHost: 256.1.1.1\r\n\r\n", 400, "invalid_header"],
  ["a Host with a space", "GET /health HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "invalid_header"],
  ["a Host with a user", "GET /health HTTP/1.1\r\nHost: u@b:99999\r\n\r\n", 400, "invalid_header"],
  ["two Hosts at the collect address", post("Host: a\r\nHost: b\r\nContent-Length: 0\r\n", ""), 400, "invalid_header"],
  ["Content-Length and chunked encoding", post(`${HOST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n`, "0\r\n\r\n"), 400, undefined],
  ["two Content-Lengths", post(`${HOST}Content-Length: 3\r\nContent-Length: 4\r\n`, "abcd"), 400, undefined],
  ["a negative Content-Length", post(`${HOST}Content-Length: -3\r\n`, ""), 400, undefined],
  ["an invalid chunk", post(`${HOST}Transfer-Encoding: chunked\r\n`, "zz\r\nabc\r\n0\r\n\r\n"), 400, undefined],
  ["headers over 16 KiB", `GET /health HTTP/1.1\r\n${HOST}X-A: ${"a".repeat(17_000)}\r\n\r\n`, 431, undefined],
  ["an encoded slash", `GET /errors%2fnot_found HTTP/1.1\r\n${HOST}\r\n`, 404, "not_found"],
  ["an encoded NUL", `GET /health%00 HTTP/1.1\r\n${HOST}\r\n`, 404, "not_found"],
  ["an empty segment", `GET //health HTTP/1.1\r\n${HOST}\r\n`, 404, "not_found"],
  ["an empty segment inside", `GET /api//event HTTP/1.1\r\n${HOST}\r\n`, 404, "not_found"],
])("rejects %s", async (_, bytes, status, code) => {
  const answers = await sendRaw(target.port, bytes)
  expect(answers.map((answer) => answer.status)).toEqual([status])
  if (code !== undefined) expect(JSON.parse(answers[0]!.body)).toMatchObject({ status, code })
})

test.each(["x", "a.b", "app", "[::1]", "EXAMPLE.org:80", "127.0.0.1:8080", "xn--mnchen-3ya.de", "stats.example."])(
  "serves the path under any host name: %s",
  async (host) => {
    const ask = (path: string) => sendRaw(target.port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    const [[health], [none], [key]] = await Promise.all([ask("/health"), ask("/zz/health"), ask("/api/public/v1/sites/1/stats/summary")])
    expect([health?.status, none?.status, key?.status]).toEqual([200, 404, 401])
  },
)

test.each([
  ["dot segments", "/errors/../health", 200],
  ["a backslash", "/errors\\not_found", 200],
  ["a fragment in the request line", "/health#/api/event", 404],
  ["a fragment at the collect address", "/api/event#", 404],
  ["a query with slashes", "/health?//%2f", 200],
  ["the absolute form", "http://other.example/health", 200],
  ["a path that only starts like another one", "/healthy", 404],
])("reads paths as Bun delivers them: %s", async (_, path, status) => {
  const [answer] = await sendRaw(target.port, `GET ${path} HTTP/1.1\r\n${HOST}\r\n`)
  expect(answer?.status).toBe(status)
})

test("a rejected body does not corrupt the connection", async () => {
  const large = "x".repeat(100_000)
  const answers = await sendRaw(
    target.port,
    `${post(`${HOST}Content-Length: 100000\r\n`, large)}GET /health HTTP/1.1\r\n${HOST}\r\n` +
      `POST /api/public/v1/sites/1/events HTTP/1.1\r\n${HOST}Content-Length: 100000\r\n\r\n${large}GET /health HTTP/1.1\r\n${HOST}\r\n`,
  )
  expect(answers.map(({ status }) => status)).toEqual([413, 200, 401, 200])
})

test("the body of a GET is not read as a second request", async () => {
  const inner = `GET /errors/not_found HTTP/1.1\r\n${HOST}\r\n`
  const answers = await sendRaw(target.port, `GET /health HTTP/1.1\r\n${HOST}Content-Length: ${inner.length}\r\n\r\n${inner}`)
  expect(answers.map(({ status }) => status)).toEqual([200])
})

test("requests that are cut off store nothing and affect no other request", async () => {
  const before = await target.pageviews()
  await Promise.all([
    sendRaw(target.port, post(`${HOST}Content-Length: 100\r\n`, EVENT), 60),
    sendRaw(target.port, post(`${HOST}Transfer-Encoding: chunked\r\n`, `${EVENT.length.toString(16)}\r\n${EVENT}\r\n`), 60),
    sendRaw(target.port, `POST /api/event HTTP/1.1\r\n${HOST}Content-Le`, 60),
  ])
  expect(await target.pageviews()).toBe(before)
  const length = `Content-Length: ${EVENT.length}\r\nUser-Agent: ${target.browser["user-agent"]}\r\n`
  const [whole] = await sendRaw(target.port, post(HOST + length, EVENT))
  expect(whole).toMatchObject({ status: 202, body: "ok" })
  expect(await target.pageviews()).toBe(before + 1)
})

test("arbitrary bytes in headers reach no store and cause no error", async () => {
  const odd = "\x80\xff\xfe'\"<script>"
  const headers = [
    "User-Agent",
    "Referer",
    "Origin",
    "X-Forwarded-For",
    "Accept-Language",
    "X-Request-Id",
    "Accept",
    "Sec-Purpose",
    "Authorization",
    "If-None-Match",
  ]
  for (const name of headers) {
    const length = Buffer.byteLength(EVENT)
    const event = `POST /api/event HTTP/1.1\r\n${HOST}${name}: ${odd}\r\nContent-Length: ${length}\r\n\r\n${EVENT}`
    const read = `GET /api/public/v1/sites/1/stats/summary HTTP/1.1\r\n${HOST}${name}: ${odd}\r\n\r\n`
    const answers = [
      ...(await sendRaw(target.port, Buffer.from(event, "latin1"))),
      ...(await sendRaw(target.port, Buffer.from(read, "latin1"))),
    ]
    expect({ name, status: answers.map(({ status }) => status) }).toEqual({ name, status: [202, 401] })
    expect(answers.every(({ headers, body }) => !`${JSON.stringify(headers)}${body}`.includes("script"))).toBe(true)
  }
})
