import type { Progress } from "../services/runtime/control.ts"
import { ExitFault } from "../services/runtime/exit.ts"

/** Input and output of the commands. */
export interface Streams {
  out(text: string): void
  err(text: string): void
  /** Whether `err` is a terminal. */
  isTerminal: boolean
  /** Reads standard input to its end. */
  readInput(): Promise<string>
  monotonic(): number
}

export interface Terminal {
  line(text: string): void
  json(value: unknown): void
  /** Prints rows in aligned columns below a header. */
  table(columns: readonly string[], rows: readonly (readonly unknown[])[]): void
  /** Shows the progress with an estimate of the remaining time, on a terminal and only after one second. */
  progress(progress: Progress): void
  /** Clears the progress line. */
  endProgress(): void
  readInput(): Promise<string>
}

export function createTerminal(streams: Streams): Terminal {
  const { show, clear } = progressLine(streams)
  const line = (text: string) => {
    clear()
    streams.out(`${text}\n`)
  }
  return {
    line,
    json: (value) => line(JSON.stringify(value, null, 2)),
    table(columns, rows) {
      const cells = [columns, ...rows.map((row) => row.map(cell))]
      const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
      for (const row of cells)
        line(
          row
            .map((text, column) => text.padEnd(widths[column]!))
            .join("  ")
            .trimEnd(),
        )
    },
    progress: show,
    endProgress: clear,
    readInput: streams.readInput,
  }
}

/** Formats a cell. Replaces control characters, because values from users and visitors must not control the terminal. */
const cell = (value: unknown): string => String(value ?? "–").replace(/\p{Cc}/gu, "�")

function progressLine({ err, isTerminal, monotonic }: Streams): { show(progress: Progress): void; clear(): void } {
  let startedAt: number | undefined
  let shown = false
  return {
    show({ what, done, total }) {
      startedAt ??= monotonic()
      const elapsed = monotonic() - startedAt
      if (!isTerminal || elapsed < 1_000) return
      const share = total > 0 ? done / total : 0
      const left = share > 0.02 && share < 1 ? `, about ${Math.ceil((elapsed / share - elapsed) / 1_000)} s left` : ""
      err(`\r\u001b[K${what}: ${Math.floor(share * 100)} %${left}`)
      shown = true
    },
    clear() {
      if (shown) err("\r\u001b[K")
      shown = false
    },
  }
}

/** Reads the password from the first line of standard input, without the line break that `echo` appends. Throws if it is empty. */
export async function passwordFrom(terminal: Terminal): Promise<string> {
  const password = (await terminal.readInput()).split(/\r?\n/)[0]!
  if (password === "") throw new ExitFault("usage", "standard input contains no password")
  return password
}
