import { describe, expect, test } from "bun:test"
import { coverageReader, NO_COVERAGE } from "../../sources/server-log/coverage.ts"
import { serverLog } from "../../sources/server-log.ts"
import { countBy, readWith, utcDay } from "../source-reading.ts"

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0"
const PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15"

/** Six requests: two pageviews on each of two days, an image, and a page that does not exist. */
const REQUESTS = [
  { at: "2024-02-01T12:00:52Z", target: "/", status: 200, agent: FIREFOX, referrer: "https://news.example/a" },
  { at: "2024-02-01T12:00:53Z", target: "/logo.png", status: 200, agent: FIREFOX, referrer: "-" },
  { at: "2024-02-01T12:03:00Z", target: "/pricing?plan=pro", status: 304, agent: FIREFOX, referrer: "-" },
  { at: "2024-02-02T08:15:00Z", target: "/", status: 200, agent: PHONE, referrer: "-" },
  { at: "2024-02-02T08:16:00Z", target: "/missing", status: 404, agent: PHONE, referrer: "-" },
  { at: "2024-02-02T08:17:30Z", target: "/about", status: 200, agent: PHONE, referrer: "-" },
] as const
const ADDRESSES = { [FIREFOX]: "203.0.113.7", [PHONE]: "2001:db8::7" } as const
type Request = (typeof REQUESTS)[number]

const MONTHS = ["Jan", "Feb"]
const apache = (at: string) => `${at.slice(8, 10)}/${MONTHS[Number(at.slice(5, 7)) - 1]}/${at.slice(0, 4)}:${at.slice(11, 19)} +0000`
const plus = (text: string) => text.replaceAll(" ", "+")
const twice = (text: string) => text.replaceAll(" ", "%2520")
const address = ({ agent }: Request) => ADDRESSES[agent]
const logOf = (line: (request: Request) => string, head = "") => head + REQUESTS.map((request) => `${line(request)}\n`).join("")
const common = (r: Request) => `${address(r)} - jane [${apache(r.at)}] "GET ${r.target} HTTP/1.1" ${r.status} 512`
const combined = (r: Request) => `${common(r)} "${r.referrer}" "${r.agent}"`
const [stem, query] = [(r: Request) => r.target.split("?")[0], (r: Request) => r.target.split("?")[1] ?? "-"]

const LOGS: Readonly<Record<string, string>> = {
  combined: logOf(combined),
  vhost_combined: logOf((r) => `shop.example:443 ${combined(r)}`),
  "vhost_combined without a port": logOf((r) => `shop.example ${combined(r)}`),
  common: logOf(common),
  common_vhost: logOf((r) => `shop.example ${common(r)}`),
  "w3c of IIS": logOf(
    (r) =>
      `${r.at.slice(0, 10)} ${r.at.slice(11, 19)} W3SVC1 GET ${stem(r)} ${query(r)} 443 jane ${address(r)} ${plus(r.agent)} id=secret ${r.referrer} shop.example ${r.status} 0`,
    "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n#Fields: date time s-sitename cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Cookie) cs(Referer) cs-host sc-status sc-substatus\n",
  ),
  "w3c of CloudFront": logOf(
    (r) =>
      [
        r.at.slice(0, 10),
        r.at.slice(11, 19),
        "FRA2",
        "512",
        address(r),
        "GET",
        "d1.cloudfront.net",
        stem(r),
        r.status,
        r.referrer,
        twice(r.agent),
      ]
        .concat([query(r), "shop.example"])
        .join("\t"),
    "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query x-host-header\n",
  ),
  caddy: logOf((r) =>
    JSON.stringify({
      ts: Date.parse(r.at) / 1000 + 0.68,
      logger: "http.log.access",
      request: {
        remote_addr: `[${address(r)}]:41844`,
        method: "GET",
        host: "shop.example:443",
        uri: r.target,
        headers: { "User-Agent": [r.agent], ...(r.referrer !== "-" && { Referer: [r.referrer] }), Cookie: ["REDACTED"] },
      },
      status: r.status,
    }),
  ),
  "caddy over several lines": logOf((r) =>
    JSON.stringify(
      {
        ts: r.at,
        request: {
          client_ip: address(r),
          method: "GET",
          host: "shop.example",
          uri: r.target,
          headers: { "user-agent": [r.agent], referer: [r.referrer === "-" ? "" : r.referrer] },
        },
        status: r.status,
      },
      null,
      2,
    ),
  ),
  nginx_json: logOf((r) =>
    JSON.stringify({
      ip: address(r),
      host: "shop.example",
      path: r.target,
      status: String(r.status),
      referrer: r.referrer,
      user_agent: r.agent,
      length: 512,
      date: r.at,
    }),
  ),
  "nginx_json with names of variables": logOf((r) =>
    JSON.stringify({
      remote_addr: address(r),
      time_local: apache(r.at),
      request: `GET ${r.target} HTTP/2.0`,
      status: r.status,
      http_host: "shop.example",
      http_referer: r.referrer,
      http_user_agent: r.agent,
    }),
  ),
  bunny: logOf(
    (r) => `HIT|${r.status}|${Date.parse(r.at)}|512|390|${address(r)}|${r.referrer}|https://shop.example${r.target}|WA|${r.agent}|0a1b|DE`,
  ),
}
const CUSTOM = `$host $_ $remote_addr - $remote_user [$time_iso8601] "$request" $status "$http_referer" "$http_user_agent"`
const customLog = logOf(
  (r) =>
    `shop.example x${r.status} ${address(r)} - jane [${r.at}] "GET ${r.target} HTTP/1.1" ${r.status} "${r.referrer}" "${r.agent}" 0.003`,
)

describe("formats", () => {
  test.each([
    ...Object.entries(LOGS).map(([format, log]) => [format, log, {}] as const),
    ["custom", customLog, { format: "custom", pattern: CUSTOM }] as const,
  ])("reads %s", async (format, log, own) => {
    const { events, rejects, skips, read } = await readWith(serverLog, { "access.log": log }, { own })
    expect({ rejects, skips, read }).toEqual({ rejects: [], skips: { not_a_pageview: 1 }, read: 6 })
    expect(countBy(events, (event) => `${utcDay(event)} ${event.name}`)).toEqual({
      "2024-02-01 pageview": 2,
      "2024-02-02 pageview": 2,
      "2024-02-02 404": 1,
    })
    expect(countBy(events, ({ path, url }) => path ?? url ?? "")).toEqual({ "/": 2, "/pricing?plan=pro": 1, "/missing": 1, "/about": 1 })
    expect(countBy(events, ({ hostname = "" }) => hostname)).toEqual({ "shop.example": 5 })
    const isPlain = format.startsWith("common")
    expect(countBy(events, ({ sender }) => sender!.address)).toEqual({ "203.0.113.7": 2, "2001:db8::7": 3 })
    expect(countBy(events, ({ userAgent = "" }) => userAgent)).toEqual(isPlain ? { "": 5 } : { [FIREFOX]: 2, [PHONE]: 3 })
    expect(events.map(({ referrer }) => referrer).filter(Boolean)).toEqual(isPlain ? [] : ["https://news.example/a"])
    expect(events[1]!.at - Date.parse("2024-02-01T12:03:00Z")).toBe(format === "caddy" ? 680 : 0)
    expect(events[3]).toMatchObject({ name: "404", props: [["path", "/missing"]] })
    // Names and cookies never leave the reader.
    expect(JSON.stringify(events)).not.toMatch(/jane|secret|REDACTED/)
  })

  test("reads the country of Bunny, and the first language of Caddy", async () => {
    const caddy = `{"ts":1706788852.68,"request":{"remote_ip":"203.0.113.7","method":"GET","host":"shop.example","uri":"/","headers":{"User-Agent":["${FIREFOX}"],"Accept-Language":["pt-br,en;q=0.8"]}},"status":200}\n`
    const { events } = await readWith(serverLog, { "b.log": LOGS.bunny!, "c.log": caddy })
    expect(events.map(({ traits }) => traits)).toEqual([...new Array(5).fill({ country: "DE" }), { language: "pt-BR" }])
  })

  test("resolves the escapes of nginx and Apache, and reads addresses with offsets from UTC", async () => {
    const line = `127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /caf\\xC3\\xA9 HTTP/1.0" 200 - "-" "Agent \\"x\\" \\\\ of a browser"\n`
    const { events } = await readWith(serverLog, { "access.log": line })
    expect(events).toMatchObject([{ at: Date.parse("2000-10-10T20:55:36Z"), path: "/café", userAgent: 'Agent "x" \\ of a browser' }])
  })

  test("reads other columns after another `#Fields:`", async () => {
    const log = [
      "#Fields: date time c-ip cs-method cs-uri-stem sc-status",
      "2024-02-01 12:00:00 203.0.113.7 GET /a 200",
      "#Fields: time date cs-uri-stem cs-method c-ip sc-status",
      "12:01:00 2024-02-01 /b GET 203.0.113.7 200",
    ].join("\r\n")
    const { events, read } = await readWith(serverLog, { "u_ex.log": log })
    expect({ paths: events.map(({ path }) => path), read }).toEqual({ paths: ["/a", "/b"], read: 2 })
  })

  test("keeps lines that are not UTF-8", async () => {
    const { events, fault } = await readWith(serverLog, { "access.log": LOGS.combined! })
    expect({ events: events.length, fault }).toEqual({ events: 5, fault: undefined })
    const latin = Buffer.from(LOGS.combined!.replace("/about", "/caf\u00e9"), "latin1")
    const own = await readBytes(latin)
    expect(own).toEqual(["/", "/pricing?plan=pro", "/", "/missing", "/caf\ufffd"])
  })
})

async function readBytes(bytes: Uint8Array): Promise<(string | undefined)[]> {
  const { fileHead } = await import("../../reading/text.ts")
  const paths: (string | undefined)[] = []
  const ignore = () => {}
  const sink = { event: ({ path }: { path?: string }) => void paths.push(path), totals: ignore, reject: ignore, skip: ignore, read: ignore }
  const more = { refund: ignore, warn: ignore, unsupported: ignore, choices: ignore, mapping: ignore, check: ignore }
  const file = {
    ...fileHead("access.log", bytes),
    recognition: { confidence: 1 },
    async *chunks() {
      yield bytes
    },
  }
  const options = { timezone: "UTC", siteTimezone: "UTC", hostname: "shop.example", currency: "EUR", isPreview: false, own: {} }
  await serverLog.read([file], options, { ...sink, ...more })
  return paths
}

const line = (request: string, status = 200) => `203.0.113.7 - - [01/Feb/2024:12:00:52 +0000] "${request}" ${status} 5 "-" "${FIREFOX}"\n`
const NAMES = { pageview: 1 }

describe("requests", () => {
  test.each([
    ["a page", line("GET / HTTP/1.1"), {}, NAMES],
    ["a page with status 206", line("GET / HTTP/1.1", 206), {}, NAMES],
    ["a POST", line("POST / HTTP/1.1"), {}, {}],
    ["a HEAD", line("HEAD / HTTP/1.1"), {}, {}],
    ["a redirect", line("GET / HTTP/1.1", 302), {}, {}],
    ["a redirect that is wanted", line("GET / HTTP/1.1", 303), { exclude_redirects: false }, NAMES],
    ["a status 307 where redirects are wanted", line("GET / HTTP/1.1", 307), { exclude_redirects: false }, {}],
    ["a server error", line("GET / HTTP/1.1", 500), {}, {}],
    ["a script", line("GET /app.MJS?v=1 HTTP/1.1"), {}, {}],
    ["a script that is wanted", line("GET /app.js HTTP/1.1"), { exclude_static: false }, NAMES],
    ["a page with a dot in a folder", line("GET /v1.js/guide HTTP/1.1"), {}, NAMES],
    ["a page with an extension", line("GET /index.html HTTP/1.1"), {}, NAMES],
    ["a missing page", line("GET /gone?a=1 HTTP/1.1", 404), {}, { "404": 1 }],
    ["a missing image", line("GET /gone.png HTTP/1.1", 404), {}, { "404": 1 }],
    ["a missing page that is not wanted", line("GET /gone HTTP/1.1", 404), { record_404: false }, {}],
    ["a TLS handshake", line("\\x16\\x03\\x01", 400), {}, {}],
    ["an empty request", line("-", 408), {}, {}],
    ["a request of HTTP 0.9", line("GET /"), {}, NAMES],
  ])("counts %s", async (_, log, own, names) => {
    const { events, skips, rejects } = await readWith(serverLog, { "access.log": log }, { own: { format: "combined", ...own } })
    expect(countBy(events, ({ name }) => name)).toEqual(names)
    expect({ skips, rejects }).toEqual({ skips: events.length === 0 ? { not_a_pageview: 1 } : {}, rejects: [] })
  })

  test("takes the host of a full URL, and keeps paths that begin with two slashes", async () => {
    const log = line("GET http://other.example:80/a?b=1 HTTP/1.1") + line("GET //double HTTP/1.1")
    const { events } = await readWith(serverLog, { "access.log": log })
    expect(events.map(({ hostname, path, url }) => ({ hostname, path, url }))).toEqual([
      { hostname: "other.example", path: "/a?b=1", url: undefined },
      { hostname: "shop.example", path: undefined, url: "http://shop.example//double" },
    ])
  })
})

describe("defects", () => {
  test.each([
    ["text that is no line of the format", "combined", "203.0.113.7 nothing here", "wrong_column_count"],
    ["a line that ends early", "combined", line("GET / HTTP/1.1").slice(0, 90), "wrong_column_count"],
    ["a day that does not exist", "combined", line("GET / HTTP/1.1").replace("01/Feb", "31/Feb"), "bad_date"],
    ["a time that does not exist", "combined", line("GET / HTTP/1.1").replace("12:00:52", "25:00:52"), "bad_date"],
    ["a status that is no number", "combined", line("GET / HTTP/1.1").replace(" 200 ", " 2x0 "), "bad_number"],
    ["a target that is no path", "combined", line("GET page HTTP/1.1"), "bad_url"],
    ["a line over 1 MiB", "combined", line(`GET /${"a".repeat(1_100_000)} HTTP/1.1`), "too_long"],
    ["columns without names", "w3c", "2024-02-01 12:00:00 203.0.113.7 GET /a 200", "wrong_column_count"],
    [
      "another number of columns",
      "w3c",
      "#Fields: date time c-ip cs-method cs-uri-stem sc-status\n2024-02-01 12:00:00 GET /a 200",
      "wrong_column_count",
    ],
    ["a time that is none", "bunny", `HIT|200|today|1|1|203.0.113.7|-|http://a.example/|WA|${FIREFOX}|id|DE`, "bad_date"],
    ["text that is no JSON", "nginx_json", `{"status":200`, "wrong_column_count"],
    ["an object without a time", "nginx_json", `{"status":200,"path":"/"}`, "bad_date"],
    ["an object without a status", "nginx_json", `{"path":"/","date":"2024-02-01T12:00:00Z"}`, "bad_number"],
  ])("rejects %s, without an excerpt", async (_, format, log, code) => {
    const { rejects, events } = await readWith(serverLog, { "access.log": log }, { own: { format } })
    const lineNumber = log.startsWith("#") ? 2 : 1
    expect({ rejects, events }).toEqual({ rejects: [["access.log", lineNumber, code, ""]], events: [] })
  })

  test.each([
    ["the custom format has no pattern", { format: "custom" }, "mapping_required"],
    ["a variable is unknown", { format: "custom", pattern: "$time_local $request $cookie_id" }, "mapping_required"],
    ["variables touch each other", { format: "custom", pattern: "$time_local$request" }, "mapping_required"],
    ["the pattern has no time", { format: "custom", pattern: "$request $status" }, "mapping_required"],
    ["the pattern has no request", { format: "custom", pattern: "$time_local $status" }, "mapping_required"],
  ])("names the remedy if %s", async (_, own, code) => {
    const { fault } = await readWith(serverLog, { "access.log": "nothing\n" }, { own: { ...own } })
    expect(fault).toMatchObject({ code, message: expect.stringMatching(/options?\b/) })
  })

  test("does not recognize other files, unless the format is stated", () => {
    const file = { name: "a.csv", bytes: new Uint8Array(), text: "date,visitors\n2024-02-01,5\n" }
    expect([serverLog.recognize(file), serverLog.recognize(file, {}), serverLog.recognize(file, { format: "custom" })]).toEqual([
      undefined,
      {
        confidence: 0.1,
        refusal: { code: "unrecognized_source", message: expect.stringMatching(/^The lines of a\.csv, from line 1 on, .*option format/) },
      },
      { confidence: 0.1, table: "access_log" },
    ])
  })
})

test("skips the lines of a stream that earlier runs have read", async () => {
  const key = new Uint8Array(32).fill(7)
  const lines = LOGS.combined!.split("\n").filter(Boolean)
  const first = coverageReader(NO_COVERAGE, key)
  const before = await readWith(serverLog, { "access.log": `${lines.slice(0, 4).join("\n")}\n` }, { coverage: first })
  const second = coverageReader(first.finish(), key)
  const after = await readWith(serverLog, { "access.log": LOGS.combined! }, { coverage: second })
  expect([before.events.length, before.skips, after.events.length, after.skips]).toEqual([
    3,
    { not_a_pageview: 1 },
    2,
    { already_imported: 4 },
  ])
})
