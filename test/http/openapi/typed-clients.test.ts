import { expect, mock, test } from "bun:test"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { ts } from "@ts-morph/common"
import { temporaryFolder } from "../../kit.ts"
import { openTarget } from "../target.ts"

// The generators build code by the compiler's API, which the native `typescript` of this project does not have.
mock.module("typescript", () => ({ ...ts, default: ts }))

const root = join(import.meta.dir, "../../..")

const COMPILER_OPTIONS = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: "esnext",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["esnext", "dom", "dom.iterable"],
  types: [],
  allowImportingTsExtensions: true,
}

/** The calls of the README by `openapi-fetch`, whose types are those that `openapi-typescript` generates. */
const FETCH_CALLS = `import createClient from "openapi-fetch"
import type { components, paths } from "./schema.ts"

export async function run(baseUrl: string, key: string): Promise<number[]> {
  const { GET, POST } = createClient<paths>({
    baseUrl,
    headers: { authorization: \`Bearer \${key}\` },
    querySerializer: { array: { style: "form", explode: false } },
  })
  const site = { site_id: 1 }
  const stats = "/api/public/v1/sites/{site_id}/stats"
  const filters = JSON.stringify([{ dimension: "country", values: ["DE"] }])
  const contains: components["schemas"]["QueryFilter"] = ["contains", "event:page", ["/blog/"], { case_sensitive: false }]
  const made = await POST("/api/public/v1/sites", {
    params: { header: { "Idempotency-Key": "my-blog-1" } },
    body: { name: "Blog", hosts: ["blog.example"], timezone: "Europe/Berlin", retention_days: 730, revenue_currency: "EUR" },
  })
  const goal = await POST("/api/public/v1/sites/{site_id}/goals", {
    params: { path: site },
    body: { kind: "event", match: "exact", value: "signup", name: "Signed up" },
  })
  const funnel = await POST("/api/public/v1/sites/{site_id}/funnels", {
    params: { path: site },
    body: { name: "Signup", steps: [{ type: "page", value: "/pricing" }, { type: "event", value: "signup" }] },
  })
  const summary = await GET(\`\${stats}/summary\`, {
    params: { path: site, query: { period: "7d", compare: "previous_period", metrics: ["visitors", "pageviews"] } },
  })
  const visitors: number | undefined = summary.data?.metrics.visitors
  const query = await POST("/api/public/v1/query", {
    body: {
      site_id: 1,
      metrics: ["visitors", "bounce_rate"],
      date_range: "30d",
      dimensions: ["visit:source"],
      filters: [["contains", "event:page", ["/blog/"]], ["or", [contains, ["is", "visit:country", ["DE"]]]]],
      order_by: [["visitors", "desc"]],
    },
  })
  const answers = [
    await GET("/api/public/v1/key"),
    made,
    goal,
    funnel,
    await GET("/api/public/v1/sites/{site_id}/funnels/{funnel_id}/report", {
      params: { path: { ...site, funnel_id: funnel.data?.id ?? 0 }, query: { period: "28d" } },
    }),
    summary,
    await GET(\`\${stats}/timeseries\`, { params: { path: site, query: { period: "7d", interval: "day" } } }),
    await GET(\`\${stats}/breakdown\`, { params: { path: site, query: { dimension: "source", filters } } }),
    await GET(\`\${stats}/realtime\`, { params: { path: site } }),
    query,
    await POST("/api/v2/query", {
      body: { site_id: "shop.example", metrics: ["visitors", "pageviews"], date_range: "7d", dimensions: ["time:day"] },
    }),
    await GET("/api/public/v1/sites/{site_id}/export", {
      params: { path: site, query: { type: "page", period: "month" } },
      parseAs: "text",
    }),
  ]
  if (visitors === undefined) throw new Error("The summary has no visitors")
  return answers.map(({ response }) => response.status)
}
`

/** The same by the client that `@hey-api/openapi-ts` generates. */
const SDK_CALLS = `import { client } from "./sdk/client.gen.ts"
import * as footfall from "./sdk/index.ts"

export async function run(baseUrl: string, key: string): Promise<number[]> {
  client.setConfig({ baseUrl, auth: key })
  const path = { site_id: 1 }
  const filters = JSON.stringify([{ dimension: "country", values: ["DE"] }])
  const contains: footfall.QueryFilter = ["contains", "event:page", ["/blog/"], { case_sensitive: false }]
  const made = await footfall.createSite({
    headers: { "Idempotency-Key": "my-blog-2" },
    body: { name: "Blog", hosts: ["blog.example"], timezone: "Europe/Berlin", retention_days: 730, revenue_currency: "EUR" },
  })
  const goal = await footfall.createGoal({ path, body: { kind: "event", match: "exact", value: "login", name: "Logged in" } })
  const funnel = await footfall.createFunnel({
    path,
    body: { name: "Login", steps: [{ type: "page", value: "/login" }, { type: "event", value: "login" }] },
  })
  const summary = await footfall.getSummary({
    path,
    query: { period: "7d", compare: "previous_period", metrics: ["visitors", "pageviews"] },
  })
  const visitors: number | undefined = summary.data?.metrics.visitors
  const answers = [
    await footfall.getKey(),
    made,
    goal,
    funnel,
    await footfall.getFunnelReport({ path: { ...path, funnel_id: funnel.data?.id ?? 0 }, query: { period: "28d" } }),
    summary,
    await footfall.getTimeseries({ path, query: { period: "7d", interval: "day" } }),
    await footfall.getBreakdown({ path, query: { dimension: "source", filters } }),
    await footfall.getRealtime({ path }),
    await footfall.query({
      body: {
        site_id: 1,
        metrics: ["visitors", "bounce_rate"],
        date_range: "30d",
        dimensions: ["visit:source"],
        filters: [["contains", "event:page", ["/blog/"]], ["or", [contains, ["is", "visit:country", ["DE"]]]]],
        order_by: [["visitors", "desc"]],
      },
    }),
    await footfall.queryPlausible({
      body: { site_id: "shop.example", metrics: ["visitors", "pageviews"], date_range: "7d", dimensions: ["time:day"] },
    }),
    await footfall.exportSite({ path, query: { type: "page", period: "month" } }),
  ]
  if (visitors === undefined) throw new Error("The summary has no visitors")
  return answers.map(({ response }) => response?.status ?? 0)
}
`

const STATUSES = [200, 201, 201, 201, 200, 200, 200, 200, 200, 200, 200, 200]

test("clients generated from the document compile with the calls of the README, and the calls work", async () => {
  using folder = temporaryFolder()
  await using target = await openTarget()
  const inFolder = (name: string): string => join(folder.path, name)
  const document = await (await fetch(`${target.url}/api/public/v1/openapi.json`)).text()
  const { default: openapiTypes, astToString } = await import("openapi-typescript")
  const { createClient } = await import("@hey-api/openapi-ts")
  await Bun.write(inFolder("schema.ts"), astToString(await openapiTypes(document)))
  await createClient({ input: JSON.parse(document), output: inFolder("sdk"), logs: { level: "silent" } })
  await Bun.write(inFolder("fetch-calls.ts"), FETCH_CALLS)
  await Bun.write(inFolder("sdk-calls.ts"), SDK_CALLS)

  await Bun.write(
    inFolder("tsconfig.json"),
    JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: ["fetch-calls.ts", "sdk-calls.ts"] }),
  )
  symlinkSync(join(root, "node_modules"), inFolder("node_modules"))
  const compiler = Bun.spawn([process.execPath, "x", "tsc", "-p", folder.path], { cwd: root, stdout: "pipe" })
  expect(await new Response(compiler.stdout).text()).toBe("")
  expect(await compiler.exited).toBe(0)

  for (const name of ["fetch-calls.ts", "sdk-calls.ts"]) {
    const { run } = await import(inFolder(name))
    expect({ name, statuses: await run(target.url, target.keys.all) }).toEqual({ name, statuses: STATUSES })
  }
}, 120_000)
