import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { BROWSER, temporaryFolder } from "../kit.ts"
import { createInstance, footfall, serving } from "./footfall.ts"

// Each test starts processes, which is slow on a busy machine.
setDefaultTimeout(60_000)

test("shields of the instance and of a site take effect immediately in the serving process", async () => {
  using folder = temporaryFolder()
  await using server = await serving(folder.path)
  const run = (...words: string[]) => footfall([...words, "--data-dir", folder.path])
  const runJson = async (...words: string[]) => {
    const { code, out, err } = await run(...words, "--json")
    expect({ words, code, err: code === 0 ? "" : err }).toEqual({ words, code: 0, err: "" })
    return JSON.parse(out)
  }
  const dropped = async (host: string, path: string) => {
    const body = JSON.stringify({ n: "pageview", u: `https://${host}${path}` })
    const answer = await fetch(`${server.address}/api/event`, {
      method: "POST",
      headers: { "user-agent": BROWSER, "x-debug-request": "true" },
      body,
    })
    return answer.headers.get("x-footfall-dropped")
  }
  for (const host of ["one.example", "two.example"]) await runJson("site", "create", "--name", host, "--hosts", host)

  expect(await runJson("shield", "add", "--kind", "page", "--value", "/admin*", "--note", "our own")).toMatchObject({
    id: 1,
    value: "/admin*",
  })
  const conditions = JSON.stringify([{ dimension: "page", operator: "starts_with", values: ["/test"] }])
  expect(await runJson("shield", "add", "--kind", "rule", "--conditions", conditions, "--site", "2")).toMatchObject({
    id: 1,
    value: "page starts_with /test",
  })
  const seen = async () => [
    await dropped("one.example", "/admin"),
    await dropped("one.example", "/test"),
    await dropped("two.example", "/test"),
  ]
  expect(await seen()).toEqual(["page", null, "rule"])
  expect(
    (await run("shield", "list")).out
      .split("\n")
      .slice(0, 2)
      .map((line) => line.trim().split(/ {2,}/)),
  ).toEqual([
    ["id", "kind", "value", "enabled", "note"],
    ["1", "page", "/admin*", "on", "our own"],
  ])
  expect(await runJson("shield", "list", "--site", "2")).toMatchObject([{ id: 1, kind: "rule" }])

  await runJson("shield", "set", "1", "--enabled", "off")
  expect(await seen()).toEqual([null, null, "rule"])
  await runJson("shield", "set", "1", "--enabled", "on", "--note", "")
  expect(await runJson("shield", "list")).toMatchObject([{ enabled: true, note: "" }])
  await runJson("shield", "remove", "1")
  await runJson("shield", "remove", "1", "--site", "2")
  expect(await seen()).toEqual([null, null, null])
})

/** An instance that rejected commands leave unchanged. */
const unchanged = temporaryFolder()
beforeAll(() => createInstance(unchanged.path))
afterAll(() => unchanged[Symbol.dispose]())

test.each([
  [["add", "--kind", "city", "--value", "Bonn"], "kind must be"],
  [["add", "--kind", "rule", "--conditions", "{"], "--conditions must be JSON"],
  [["add", "--kind", "rule", "--conditions", "[]"], "conditions must have at least 1 item"],
  [["add", "--kind", "ip", "--value", "10.0.0"], "value must be an address"],
  [["add", "--kind", "ip", "--value", "10.0.0.1", "--site", "9"], "This site doesn't exist"],
  [["list", "--site", "9"], "This site doesn't exist"],
  [["set", "1"], "Add at least one field to change"],
  [["set", "1", "--enabled", "maybe"], "--enabled must be on or off"],
  [["set", "1", "--enabled", "on"], "Shield 1 does not exist"],
  [["remove", "one"], "Shield one does not exist"],
])("footfall shield %p fails with an explanation", async (words, message) => {
  const { code, err } = await footfall(["shield", ...words, "--data-dir", unchanged.path])
  expect({ code, err }).toEqual({ code: 64, err: expect.stringContaining(message) })
})
