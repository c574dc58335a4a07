import { afterAll, beforeAll, expect, test } from "bun:test"
import { join } from "node:path"
import { clientGuides, listCode, pagingCode, retryCode } from "../../../src/http/openapi/page/client-guides.ts"
import { temporaryFolder } from "../../kit.ts"
import { openTarget, type Target } from "../target.ts"

/** The code of the guides for people who write clients runs as it is shown. */

let target: Target
let api: string
beforeAll(async () => {
  target = await openTarget()
  api = `${target.url}/api/public/v1`
})
afterAll(() => target.close())

const folder = temporaryFolder()
afterAll(() => folder[Symbol.dispose]())
let modules = 0
/** Imports code of a guide, with an export at its end. */
async function load<Exports>(code: string, exported: string): Promise<Exports> {
  const path = join(folder.path, `${++modules}.mjs`)
  await Bun.write(path, `${code}\nexport { ${exported} }\n`)
  return (await import(path)) as Exports
}

test("the paging example reads every site once", async () => {
  const code = pagingCode(api).replace('limit: "100"', 'limit: "1"')
  const { sites } = await load<{ sites(key: string): AsyncIterable<{ id: number }> }>(code, "sites")
  const ids: number[] = []
  for await (const { id } of sites(target.keys.all)) ids.push(id)
  expect(ids).toEqual([1, 2])
})

test("the example of repetition waits as long as the response says, and gives up on other errors", async () => {
  const { send } = await load<{ send(url: string, options?: object, tries?: number): Promise<Response> }>(retryCode, "send")
  const statuses = [429, 503, 409, 200]
  const waits: number[] = []
  let last = performance.now()
  await using server = Bun.serve({
    port: 0,
    fetch() {
      waits.push(Math.round((performance.now() - last) / 1000))
      last = performance.now()
      return new Response("", { status: statuses.shift() ?? 422, headers: { "retry-after": "1" } })
    },
  })
  expect((await send(server.url.href)).status).toBe(200)
  expect(waits).toEqual([0, 1, 1, 1])
  expect((await send(server.url.href)).status).toBe(422)
  statuses.push(429, 429)
  expect((await send(server.url.href, {}, 2)).status).toBe(429)
})

test("the examples of lists are accepted", async () => {
  const { javascript, filters } = listCode(api)
  const { response } = await load<{ response: Response }>(`const key = "${target.keys.stats}"\n${javascript}`, "response")
  expect(((await response.json()) as { metrics: object }).metrics).toEqual({ visitors: 0, pageviews: 0 })
  const { stdout } = Bun.spawn(["bash", "-c", filters], { env: { ...process.env, KEY: target.keys.stats } })
  expect(JSON.parse(await new Response(stdout).text())).toMatchObject({ metrics: { visitors: 0, pageviews: 0 } })
})

const runPython = (code: string, env: Record<string, string> = {}) =>
  Bun.spawnSync(["python3", "-c", code], { env: { ...process.env, ...env }, stderr: "ignore" })
const noRequests = Bun.which("python3") === null || runPython("import requests").exitCode !== 0

test.skipIf(noRequests)("the example of a list in Python is accepted", async () => {
  const code = `${listCode(api).python}\nprint(response.text)`
  const { stdout } = Bun.spawn(["python3", "-c", code], { env: { ...process.env, KEY: target.keys.stats } })
  expect(JSON.parse(await new Response(stdout).text())).toMatchObject({ metrics: { visitors: 0, pageviews: 0 } })
})

test("each guide has an id of its own and no unfinished part", () => {
  const guides = clientGuides(api)
  expect(new Set(guides.map(({ id }) => id)).size).toBe(guides.length)
  for (const { html } of guides) expect(html).not.toMatch(/undefined|\[object/)
})
