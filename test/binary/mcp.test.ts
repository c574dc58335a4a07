/** Tests the compiled file with the common tools for MCP servers: the SDK's client, the inspector, the conformance suite. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { join } from "node:path"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type Prepared, prepareSite, type Served, serveFootfall } from "../../scripts/instance.ts"
import { sendNumbered } from "../../scripts/reliability/numbered-events.ts"
import { compiledAlone } from "./build.ts"

const modules = join(import.meta.dir, "../../node_modules/@modelcontextprotocol")
const INSPECTOR = join(modules, "inspector/clients/launcher/build/index.js")
const CONFORMANCE = join(modules, "conformance/dist/index.js")
const BASELINE = join(import.meta.dir, "../http/mcp/conformance-baseline.yml")

let compiled: ReturnType<typeof compiledAlone>
let site: Prepared
let server: Served
let url: string
beforeAll(async () => {
  compiled = compiledAlone()
  const dataDir = join(compiled.folder, "data")
  site = await prepareSite(compiled.command, dataDir)
  server = await serveFootfall({ command: compiled.command, dataDir })
  url = `${server.address}/api/public/v1/mcp`
  for (let number = 1; number <= 10; number++) await sendNumbered(server.address, site, number)
}, 120_000)
afterAll(async () => {
  await server?.kill("SIGTERM")
  compiled?.remove()
})

async function connected(key: string): Promise<Client> {
  const client = new Client({ name: "check", version: "1" })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${key}` } } }))
  return client
}

test("the SDK's client calls every tool, and each answer matches its schema", async () => {
  const client = await connected(site.key)
  expect(client.getServerVersion()).toMatchObject({ name: "footfall", title: "Footfall" })
  expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: false } })
  await client.ping()
  // From here on the client validates each answer against the tool's output schema and throws on a mismatch.
  const { tools } = await client.listTools()
  const steps = [
    { type: "page", value: "/" },
    { type: "event", value: "signup" },
  ]
  const given: Record<string, object> = {
    list_sites: {},
    get_summary: { compare: "previous_period", metrics: ["visitors", "events", "revenue"] },
    get_timeseries: { period: "24h", compare: "previous_year" },
    get_breakdown: { dimension: "page" },
    get_realtime: {},
    list_goals: {},
    run_funnel: { steps, window_hours: 24 },
  }
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(given))
  for (const { name } of tools) {
    const input = name === "list_sites" ? {} : { site_id: site.siteId, ...given[name] }
    const { structuredContent, isError } = await client.callTool({ name, arguments: input })
    expect({ name, isError, answer: typeof structuredContent }).toEqual({ name, isError: undefined, answer: "object" })
  }
  const { structuredContent } = await client.callTool({ name: "get_summary", arguments: { site_id: site.siteId, metrics: ["events"] } })
  expect(structuredContent).toMatchObject({ metrics: { events: 10 } })
  const failed = await client.callTool({ name: "get_summary", arguments: { site_id: 99 } })
  expect(failed.isError).toBe(true)
  await expect(client.callTool({ name: "drop_site", arguments: {} })).rejects.toMatchObject({ code: -32602 })
  await expect(client.listResources()).rejects.toMatchObject({ code: -32601 })
  await client.close()
}, 60_000)

test("the SDK's client receives the rejection of its key", async () => {
  await expect(connected("ff_nobody")).rejects.toMatchObject({ code: 401 })
}, 60_000)

test("the compiled file contains none of these tools", async () => {
  const [binary = ""] = compiled.command
  expect(Buffer.from(await Bun.file(binary).arrayBuffer()).includes("modelcontextprotocol")).toBe(false)
}, 60_000)

interface Ran {
  code: number
  output: string
  errors: string
}

/** Runs an external tool to its end, with its cache in our folder. */
async function run(...words: readonly string[]): Promise<Ran> {
  const env = { ...process.env, HOME: compiled.folder, MCP_CATALOG_PATH: join(compiled.folder, "mcp.json"), NO_COLOR: "1" }
  const child = Bun.spawn([process.execPath, ...words], { stdout: "pipe", stderr: "pipe", env, cwd: compiled.folder })
  const [output, errors, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited])
  return { code, output, errors }
}

const inspect = (...words: readonly string[]): Promise<Ran> =>
  run(INSPECTOR, "--cli", url, "--transport", "http", "--header", `Authorization: Bearer ${site.key}`, "--format", "json", ...words)

test("the inspector reports no warnings", async () => {
  const listed = await inspect("--method", "tools/list", "--strict")
  expect({ code: listed.code, errors: listed.errors, tools: JSON.parse(listed.output).result.tools.length }).toEqual({
    code: 0,
    errors: "",
    tools: 7,
  })
  const hello = await inspect("--method", "initialize", "--protocol-era", "auto")
  expect(JSON.parse(hello.output).result).toMatchObject({ protocolVersion: "2025-06-18", serverInfo: { name: "footfall" } })
}, 60_000)

test("the inspector calls tools with arguments as text and as JSON", async () => {
  const asText = await inspect("--method", "tools/call", "--tool-name", "get_summary", "--tool-arg", `site_id=${site.siteId}`)
  expect({ code: asText.code, events: JSON.parse(asText.output).result.structuredContent.metrics.events }).toEqual({ code: 0, events: 10 })
  const steps = [
    { type: "page", value: "/" },
    { type: "event", value: "signup" },
  ]
  const input = JSON.stringify({ site_id: site.siteId, steps })
  expect((await inspect("--method", "tools/call", "--tool-name", "run_funnel", "--tool-args-json", input)).code).toBe(0)
  const failed = await inspect("--method", "tools/call", "--tool-name", "get_summary", "--tool-arg", "site_id=99")
  expect({ code: failed.code, isError: JSON.parse(failed.output).result.isError }).toEqual({ code: 5, isError: true })
}, 60_000)

test("the inspector is asked for a key", async () => {
  const { code, errors } = await run(INSPECTOR, "--cli", url, "--transport", "http", "--stored-auth-only", "--method", "tools/list")
  expect({ code, reason: JSON.parse(errors).error.code }).toEqual({ code: 3, reason: "auth_required" })
}, 60_000)

/** Starts a proxy that adds the key, because the conformance suite cannot send it, and forwards everything else, including Host and Origin. */
function withKey() {
  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const headers = new Headers(request.headers)
      headers.set("authorization", `Bearer ${site.key}`)
      headers.delete("accept-encoding")
      const { method } = request
      return fetch(server.address + new URL(request.url).pathname, {
        ...{ method, headers, decompress: false },
        ...(method === "POST" && { body: await request.arrayBuffer() }),
      })
    },
  })
  return { url: `http://localhost:${proxy.port}/api/public/v1/mcp`, [Symbol.asyncDispose]: () => proxy.stop(true) }
}

test("the conformance suite passes for everything that a tools-only server supports, and fails exactly the rest", async () => {
  await using proxy = withKey()
  for (const scenario of ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"]) {
    const { code, output } = await run(CONFORMANCE, "server", "--url", proxy.url, "--scenario", scenario)
    expect({ scenario, code, output }).toEqual({ scenario, code: 0, output: expect.stringContaining(", 0 failed, 0 warnings") })
  }
  const { code, output } = await run(CONFORMANCE, "server", "--url", proxy.url, "--expected-failures", BASELINE)
  expect({ code, output }).toMatchObject({ code: 0 })
}, 60_000)
