import type { Progress } from "../services/control.ts"

/** Where commands read and write. */
export interface Streams {
  out(text: string): void
  err(text: string): void
  /** Whether a person reads `err`. */
  isTerminal: boolean
  /** All of the standard input. */
  readInput(): Promise<string>
  monotonic(): number
}

export interface Terminal {
  line(text: string): void
  json(value: unknown): void
  /** Rows as aligned columns under their names. */
  table(columns: readonly string[], rows: readonly (readonly unknown[])[]): void
  /** Shows how far something is, with an estimate, once it takes longer than a second and a person looks. */
  progress(progress: Progress): void
  /** Takes the line of progress away. */
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

/** What people typed, and visitors sent, must not steer the terminal. */
const cell = (value: unknown): string => String(value ?? "–").replace(/\p{Cc}/gu, "�")

function progressLine({ err, isTerminal, monotonic }: Streams): { show(progress: Progress): void; clear(): void } {
  let begun: number | undefined
  let shown = false
  return {
    show({ what, done, total }) {
      begun ??= monotonic()
      const elapsed = monotonic() - begun
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
