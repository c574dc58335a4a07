import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { startInstance } from "../../kit.ts"

const SITES = "/api/public/v1/sites"

test("defaults of new sites and the maximum number of sites are instance settings", async () => {
  await using instance = await startInstance({
    settings: { default_timezone: "Asia/Tokyo", default_retention_days: "90", default_currency: "JPY", max_sites: "2" },
  })
  const { api, key } = instance
  expect(await api.post(SITES, { name: "Second", hosts: ["second.example"] }, key)).toMatchObject({
    status: 201,
    body: { timezone: "Asia/Tokyo", retention_days: 90, revenue_currency: "JPY" },
  })
  expect(await api.post(SITES, { name: "Third", hosts: ["third.example"] }, key)).toMatchObject({
    status: 422,
    body: { code: "limit_reached", limit: 2, resource: "sites" },
  })
})

test("a key appears in no response, log line or file after it was created", async () => {
  await using instance = await startInstance()
  const { api, key, log, dataDir } = instance
  const secret = key.slice("ff_".length + 9)
  const answers = [
    await api.get("/api/public/v1/key", key),
    await api.get(SITES, key),
    await api.get("/api/public/v1/nothing", key),
    await api.get(`${SITES}/1/stats/summary?period=${key}`, key),
    await api.post(SITES, { name: 1 }, key),
    await api.post("/api/public/v1/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }, key),
  ]
  for (const { body, headers } of answers) {
    expect(JSON.stringify(body)).not.toContain(secret)
    expect(JSON.stringify([...headers])).not.toContain(secret)
  }
  expect(JSON.stringify(log.lines)).not.toContain(secret)
  await instance.app.instance.catalog.checkpoint()
  for (const name of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue
    expect(readFileSync(join(name.parentPath, name.name)).includes(secret)).toBe(false)
  }
})
