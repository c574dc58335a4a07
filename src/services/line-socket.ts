import type { Socket } from "bun"

/** Sends and receives JSON values, one to a line, over a stream socket that may take only part of a write. */
export interface Line {
  send(value: unknown): void
  /** Ends the connection once everything is sent. */
  end(): void
}

interface Held {
  line: Line
  receive(chunk: Uint8Array): void
  drain(): void
  closed(): void
}

/** Handlers for `Bun.listen` and `Bun.connect`. `onValue` gets each value with the line to answer on. */
export function lineHandlers(on: { open?(line: Line): void; value(value: unknown, line: Line): void; close?(): void }) {
  const hold = (socket: Socket<Held>): Held => {
    const { line, drain } = writer(socket)
    return { line, drain, receive: splitter((text) => on.value(JSON.parse(text), line)), closed: () => on.close?.() }
  }
  return {
    open(socket: Socket<Held>) {
      socket.data = hold(socket)
      on.open?.(socket.data.line)
    },
    data(socket: Socket<Held>, chunk: Uint8Array) {
      try {
        socket.data.receive(chunk)
      } catch {
        // What is not JSON does not speak our protocol.
        socket.end()
      }
    },
    drain: (socket: Socket<Held>) => socket.data.drain(),
    close: (socket: Socket<Held>) => socket.data.closed(),
    error: (socket: Socket<Held>) => socket.data?.closed(),
  }
}

/** Bytes on the way are bounded: whoever sends more on one line than this is cut off. */
const LONGEST = 64 << 20

function splitter(onLine: (text: string) => void): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder()
  let rest = ""
  return (chunk) => {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = parts.pop()!
    if (rest.length > LONGEST) throw new RangeError("The line is too long")
    for (const part of parts) onLine(part)
  }
}

function writer(socket: Socket<Held>): { line: Line; drain(): void } {
  let waiting: Uint8Array = new Uint8Array(0)
  let ending = false
  const drain = () => {
    // Negative when the other side is gone; there is nobody to tell.
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
