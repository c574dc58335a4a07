import { expect, test } from "bun:test"
import { existsSync, mkdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { AppError } from "../../../src/domain/error.ts"
import { callServer, listenForCommands, type Progress } from "../../../src/services/runtime/control.ts"
import { ExitFault } from "../../../src/services/runtime/exit.ts"
import { temporaryFolder } from "../../kit.ts"

const ignore = () => {}

test("runs a command in the serving process, reports progress and returns answers of any size", async () => {
  using folder = temporaryFolder()
  const server = listenForCommands(folder.path, async (name, input, report) => {
    report({ what: "counting", done: 1, total: 2 })
    return { name, input, big: "x".repeat(3_000_000) }
  })
  const progress: Progress[] = []
  const answer = await callServer(server.path, "site.list", { text: "ü".repeat(1_000_000) }, (step) => progress.push(step))
  expect(answer).toEqual({ name: "site.list", input: { text: "ü".repeat(1_000_000) }, big: "x".repeat(3_000_000) })
  expect(progress).toEqual([{ what: "counting", done: 1, total: 2 }])
  expect(statSync(server.path).mode & 0o777).toBe(0o600)
  server.stop()
  expect(existsSync(server.path)).toBe(false)
})

test("ends a command when its command line is interrupted", async () => {
  using folder = temporaryFolder()
  const ended = Promise.withResolvers<unknown>()
  const server = listenForCommands(folder.path, async (_name, _input, report, signal) => {
    report({ what: "following", done: 0, total: 1 })
    await new Promise((resolve) => signal.addEventListener("abort", resolve))
    ended.resolve(signal.reason)
  })
  const client = await Bun.connect({ unix: server.path, socket: { data: (socket) => void socket.end() } })
  client.write(`${JSON.stringify({ name: "import run", input: {} })}\n`)
  expect(await ended.promise).toMatchObject({ message: "The command line has ended." })
  server.stop()
})

test("preserves the kind of an error across the socket", async () => {
  using folder = temporaryFolder()
  const server = listenForCommands(folder.path, async (name) => {
    if (name === "app")
      throw new AppError("validation_failed", "1 field is not valid.", {
        errors: [{ pointer: "/name", code: "required", detail: "It is missing" }],
      })
    if (name === "exit") throw new ExitFault("damaged", "The backup is damaged")
    throw new TypeError("a bug")
  })
  const failure = (name: string) => callServer(server.path, name, {}, ignore).catch((error) => error)
  expect(await failure("app")).toMatchObject({ code: "validation_failed", members: { errors: [{ pointer: "/name" }] } })
  expect(await failure("exit")).toMatchObject({ exit: "damaged", message: "The backup is damaged" })
  expect(await failure("bug")).toMatchObject({ exit: "failed", message: "a bug" })
  server.stop()
  expect(await failure("app")).toMatchObject({ exit: "inUse" })
})

test("places the socket elsewhere if the path of the data folder is too long", async () => {
  using folder = temporaryFolder()
  const deep = join(folder.path, "x".repeat(120))
  mkdirSync(deep)
  const server = listenForCommands(deep, async () => "here")
  expect(server.path.length).toBeLessThan(100)
  expect(await callServer(server.path, "any", {}, ignore)).toBe("here")
  server.stop()
  expect(existsSync(join(server.path, ".."))).toBe(false)
})
