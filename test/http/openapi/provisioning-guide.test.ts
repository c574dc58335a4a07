import { afterAll, beforeAll, expect, test } from "bun:test"
import { join } from "node:path"
import { CONFIGURATION, setUpJob } from "../../../src/http/openapi/page/provisioning-guide.ts"
import { LISTENING } from "../../../src/http/server.ts"
import { startInstance, type TestInstance, temporaryFolder } from "../../kit.ts"

/** The script of the guide sets up a site as it is shown. */

let instance: TestInstance
let server: ReturnType<typeof Bun.serve>
const folder = temporaryFolder()
beforeAll(async () => {
  instance = await startInstance()
  server = Bun.serve({ ...LISTENING, port: 0, hostname: "127.0.0.1", fetch: (request, peers) => instance.app.fetch(request, peers) })
  await Bun.write(join(folder.path, "configuration.json"), CONFIGURATION)
  await Bun.write(join(folder.path, "job.sh"), setUpJob(`http://127.0.0.1:${server.port}/api/public/v1`))
})
afterAll(async () => {
  await server.stop(true)
  await instance[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

test("sets up a site once, with its configuration, a key and an invitation", async () => {
  const get = async (path: string) => (await instance.api.get(`/api/public/v1/sites${path}`, instance.key)).body as { data: object[] }
  for (let run = 0; run < 2; run++) {
    const env = { ...process.env, KEY: instance.key }
    const job = Bun.spawn(["sh", "-e", "job.sh"], { cwd: folder.path, env, stdout: "ignore", stderr: "pipe" })
    const errors = await new Response(job.stderr).text()
    expect({ code: await job.exited, errors }).toEqual({ code: 0, errors: "" })
  }
  expect((await get("")).data).toMatchObject([{ id: 1 }, { id: 2, name: "Blog", hosts: ["blog.example"] }])
  const configuration = JSON.parse(CONFIGURATION) as object
  expect(await get("/2/configuration")).toMatchObject({ site: { name: "Blog" }, ...configuration })
  expect((await get("/2/api-keys")).data).toMatchObject([{ name: "Server", scopes: ["events:write"], site_ids: [2] }])
  expect((await get("/2/invitations")).data).toMatchObject([{ email: "ann@blog.example", role: "viewer" }])
})
