import { expect, test } from "bun:test"
import { assistantExample, scriptExample } from "../../src/http/openapi/page/page.ts"
import { LISTENING } from "../../src/http/server.ts"
import { startInstance } from "../kit.ts"

const API = "http://localhost:8080/api/public/v1"
const README = `${import.meta.dir}/../../README.md`

/** Returns the shell blocks between the README's markers, except calls of the command line, and those of the reference page. */
async function examples(): Promise<string[]> {
  const readme = await Bun.file(README).text()
  const part = readme.split("<!-- examples: a test runs them -->")[1]!.split("<!-- end of examples -->")[0]!
  const shown = [scriptExample(API), assistantExample(API)]
  return Array.from(part.matchAll(/```sh\n([\s\S]*?)```/g), ([, block]) => block!)
    .filter((block) => block.includes("curl"))
    .concat(shown)
}

test.skipIf(Bun.which("curl") === null)("the examples for clients of the API and of MCP work as written", async () => {
  await using instance = await startInstance()
  const server = Bun.serve({ ...LISTENING, port: 0, hostname: "127.0.0.1", fetch: (request, own) => instance.app.fetch(request, own) })
  try {
    const blocks = await examples()
    expect(blocks.length).toBeGreaterThan(2)
    // `-f` makes curl fail on every status from 400 on, and bash stops at the first failure.
    const script = `set -euo pipefail\n${blocks.join("\n")}`.replaceAll("http://localhost:8080", `http://127.0.0.1:${server.port}`)
    const run = Bun.spawn(["bash", "-c", script], { env: { PATH: process.env.PATH ?? "", KEY: instance.key }, stderr: "pipe" })
    const printed = await new Response(run.stdout).text()
    expect({ code: await run.exited, said: await new Response(run.stderr).text() }).toEqual({ code: 0, said: "" })
    for (const wanted of [
      '"unrestricted":true',
      '"name":"Blog"',
      '"Signed up"',
      '"entered":0',
      '"results":',
      "value,label,",
      '"serverInfo"',
      '"run_funnel"',
    ])
      expect(printed).toContain(wanted)
    // A failing tool also answers with 200.
    expect(printed).not.toContain('"isError":true')
  } finally {
    await server.stop(true)
  }
})

test("the README's commands set the key they use, fail with the answer and use one example domain", async () => {
  const readme = await Bun.file(README).text()
  const blocks = Array.from(readme.matchAll(/```(?:sh|html)\n([\s\S]*?)```/g), ([, block]) => block!)
  for (const block of blocks.filter((text) => text.includes("footfall key create"))) expect(block).toMatch(/^KEY=ff_…/m)
  const curls = blocks.flatMap((block) => block.split("\n")).filter((line) => line.startsWith("curl"))
  expect(curls.filter((line) => !/^curl -(sS --fail-with-body|i) /.test(line))).toEqual([])
  const hosts = blocks.flatMap((block) => Array.from(block.matchAll(/https?:\/\/([\w.-]+)|--hosts (\S+)|"hosts":\["([^"]+)/g)))
  const foreign = hosts.map(([, ...names]) => names.find(Boolean)!).filter((host) => !/^(localhost|(\w+\.)?example\.com)$/.test(host))
  expect(foreign).toEqual([])
})
