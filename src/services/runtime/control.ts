import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { AppError, type ErrorCode } from "../domain/error.ts"
import { placesIn } from "./data-folder.ts"
import { ExitFault, type ExitName } from "./exit.ts"
import { lineHandlers } from "./line-socket.ts"

/** How far a long command is; `done` and `total` in the same unit. */
export interface Progress {
  what: string
  done: number
  total: number
}
export type Report = (progress: Progress) => void

/** Runs one command of the command line by its name. */
export type RunCommand = (name: string, input: unknown, report: Report) => Promise<unknown>

/** Lets commands of the same user run inside the serving process: a store is never open in two. */
export function listenForCommands(dataDir: string, run: RunCommand): { path: string; stop(): void } {
  const path = socketPath(dataDir)
  rmSync(path, { force: true })
  const handlers = lineHandlers({
    value: async (request, line) => {
      // Our own command line is the only one that can open the socket; it sends this shape.
      const { name, input } = request as { name: string; input: unknown }
      try {
        line.send({ result: (await run(name, input, (progress) => line.send({ progress }))) ?? null })
      } catch (error) {
        line.send({ fault: toWire(error) })
      }
      line.end()
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

/** Runs a command in the serving process. Rejects with what it threw there, or when nobody listens. */
export function callServer(path: string, name: string, input: unknown, report: Report): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const handlers = lineHandlers({
    open: (line) => line.send({ name, input }),
    value(answer) {
      // Written by `listenForCommands` alone.
      const { result, fault, progress } = answer as { result?: unknown; fault?: WireFault; progress?: Progress }
      if (progress) report(progress)
      else if (fault) reject(fromWire(fault))
      else resolve(result)
    },
    close: () => reject(new ExitFault("failed", "The running Footfall ended before it answered")),
  })
  Bun.connect({ unix: path, socket: handlers }).catch((error) =>
    reject(new ExitFault("inUse", `A Footfall holds the data folder, but does not answer at ${path}`, { cause: error })),
  )
  return promise
}

/** A socket's path may have about 100 bytes; a deep data folder gets one in the system's temporary directory. */
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
