import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Socket } from "bun"
import { AppError, type ErrorCode } from "../../domain/error.ts"
import { placesIn } from "./data-folder.ts"
import { ExitFault, type ExitName } from "./exit.ts"

/** Progress of a long command. `done` and `total` have the same unit. */
export interface Progress {
  what: string
  done: number
  total: number
}
export type Report = (progress: Progress) => void

/** Runs a command of the command line by its name. `signal` is aborted when the command line ends before its command. */
export type RunCommand = (name: string, input: unknown, report: Report, signal: AbortSignal) => Promise<unknown>

/** Runs commands of the same user inside the serving process, so that two processes never have a store open. */
export function listenForCommands(dataDir: string, run: RunCommand): { path: string; stop(): void } {
  const path = socketPath(dataDir)
  rmSync(path, { force: true })
  const running = new Map<Line, AbortController>()
  const handlers = lineHandlers({
    value: async (request, line) => {
      // Only our own command line can open the socket, and it sends this shape.
      const { name, input } = request as { name: string; input: unknown }
      const left = new AbortController()
      running.set(line, left)
      try {
        line.send({ result: (await run(name, input, (progress) => line.send({ progress }), left.signal)) ?? null })
      } catch (error) {
        line.send({ fault: toWire(error) })
      }
      line.end()
    },
    close(line) {
      running.get(line)?.abort(new Error("The command line has ended."))
      running.delete(line)
    },
  })
  const server = Bun.listen({ unix: path, socket: handlers })
  chmodSync(path, 0o600)
  return {
    path,
    stop() {
      server.stop(true)
      rmSync(path, { force: true })
      if (path !== placesIn(dataDir).control) rmSync(dirname(path), { recursive: true, force: true })
    },
  }
}

/** Runs a command in the serving process. Rejects with the error of the command, or when no process is listening. */
export function callServer(path: string, name: string, input: unknown, report: Report): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const handlers = lineHandlers({
    open: (line) => line.send({ name, input }),
    value(answer) {
      // Only `listenForCommands` writes to the socket.
      const { result, fault, progress } = answer as { result?: unknown; fault?: WireFault; progress?: Progress }
      if (progress) report(progress)
      else if (fault) reject(fromWire(fault))
      else resolve(result)
    },
    close: () => reject(new ExitFault("failed", "The running Footfall process ended before it answered")),
  })
  Bun.connect({ unix: path, socket: handlers }).catch((error) =>
    reject(new ExitFault("inUse", `Another Footfall process uses the data folder but does not answer at ${path}`, { cause: error })),
  )
  return promise
}

/** Returns the path of the socket. It may have about 100 bytes, so a longer one is replaced by a path in the temporary directory. */
function socketPath(dataDir: string): string {
  const { control } = placesIn(dataDir)
  if (Buffer.byteLength(control) <= 100) return control
  return join(mkdtempSync(join(tmpdir(), "footfall-")), "control.sock")
}

interface WireFault {
  message: string
  code?: ErrorCode
  members?: AppError["members"]
  exit?: ExitName
}

function toWire(error: unknown): WireFault {
  if (error instanceof AppError) return { message: error.message, code: error.code, members: error.members }
  if (error instanceof ExitFault) return { message: error.message, exit: error.exit }
  return { message: error instanceof Error ? error.message : String(error), exit: "failed" }
}

const fromWire = ({ message, code, members, exit }: WireFault): Error =>
  code ? new AppError(code, message, members) : new ExitFault(exit ?? "failed", message)

/** Sends and receives JSON values, one to a line, over a stream socket that may take only part of a write. */
export interface Line {
  send(value: unknown): void
  /** Ends the connection once everything is sent. */
  end(): void
}

interface Connection {
  line: Line
  receive(chunk: Uint8Array): void
  drain(): void
  closed(): void
}

/** Creates handlers for `Bun.listen` and `Bun.connect`. `value` is called with each value and the line to answer on. */
export function lineHandlers(on: { open?(line: Line): void; value(value: unknown, line: Line): void; close?(line: Line): void }) {
  const connect = (socket: Socket<Connection>): Connection => {
    const { line, drain } = writer(socket)
    return { line, drain, receive: splitter((text) => on.value(JSON.parse(text), line)), closed: () => on.close?.(line) }
  }
  return {
    open(socket: Socket<Connection>) {
      socket.data = connect(socket)
      on.open?.(socket.data.line)
    },
    data(socket: Socket<Connection>, chunk: Uint8Array) {
      try {
        socket.data.receive(chunk)
      } catch {
        // A peer that sends anything but JSON does not use our protocol.
        socket.end()
      }
    },
    drain: (socket: Socket<Connection>) => socket.data.drain(),
    close: (socket: Socket<Connection>) => socket.data.closed(),
    error: (socket: Socket<Connection>) => socket.data?.closed(),
  }
}

/** Maximum length of a line. A peer that sends a longer one is disconnected. */
const MAX_LINE_CHARS = 64 << 20

function splitter(onLine: (text: string) => void): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder()
  let rest = ""
  return (chunk) => {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = parts.pop()!
    if (rest.length > MAX_LINE_CHARS) throw new RangeError("The line is too long")
    for (const part of parts) onLine(part)
  }
}

function writer(socket: Socket<Connection>): { line: Line; drain(): void } {
  let waiting: Uint8Array = new Uint8Array(0)
  let ending = false
  const drain = () => {
    // Negative when the peer has disconnected.
    const written = Math.max(0, socket.write(waiting))
    waiting = waiting.subarray(written)
    if (ending && waiting.length === 0) socket.end()
  }
  const line = {
    send(value: unknown) {
      waiting = Buffer.concat([waiting, Buffer.from(`${JSON.stringify(value)}\n`)])
      drain()
    },
    end() {
      ending = true
      drain()
    },
  }
  return { line, drain }
}
