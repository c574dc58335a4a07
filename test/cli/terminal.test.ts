import { expect, test } from "bun:test"
import { createTerminal } from "../../src/cli/terminal.ts"

function capture(isTerminal: boolean) {
  const [out, err]: [string[], string[]] = [[], []]
  let at = 0
  const terminal = createTerminal({
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    isTerminal,
    readInput: async () => "",
    monotonic: () => at,
  })
  const wait = (ms: number) => {
    at += ms
  }
  return { terminal, out, err, wait }
}

test("shows progress with an estimate on a terminal after one second", () => {
  const { terminal, err, wait } = capture(true)
  terminal.progress({ what: "copying", done: 0, total: 100 })
  wait(900)
  terminal.progress({ what: "copying", done: 10, total: 100 })
  expect(err).toEqual([])
  wait(1_100)
  terminal.progress({ what: "copying", done: 20, total: 100 })
  expect(err).toEqual(["\r\u001b[Kcopying: 20 %, about 8 s left"])
  terminal.line("done")
  expect(err.at(-1)).toBe("\r\u001b[K")
})

test("shows no progress when the output is not a terminal", () => {
  const { terminal, out, err, wait } = capture(false)
  terminal.progress({ what: "copying", done: 0, total: 100 })
  wait(5_000)
  terminal.progress({ what: "copying", done: 20, total: 100 })
  terminal.json({ done: true })
  expect([out, err]).toEqual([['{\n  "done": true\n}\n'], []])
})

test("aligns a table and removes control sequences from visitors' texts", () => {
  const { terminal, out } = capture(true)
  terminal.table(
    ["id", "name"],
    [
      [1, "Shop"],
      [200, "red\u001b[31m"],
      [3, null],
    ],
  )
  expect(out.join("")).toBe("id   name\n1    Shop\n200  red�[31m\n3    –\n")
})
