/** What a measure has counted over some parts, to be added to what it counts over others. */
export interface Sums {
  groups: Uint32Array
  /** The same number of figures for each of the groups. Crossing visitors are not in them. */
  figures: Float64Array
  /** The crossing visitors, each once for each of its groups. */
  crossing?: { groups: Uint32Array; visitors: Uint32Array }
}

/** The visitors of some parts who can also be elsewhere. Bits of single words are those of 32 visitors, as in `visitor-bits.ts`. */
export interface Crossing {
  /** Position of the first word among those of all visitors. No visitor of the parts has a bit before it or after the last word. */
  from: number
  bits: Int32Array
}

/** A measure whose sums can be kept. */
export interface Summable {
  /** Returns the sums since it was called last, and starts again from 0. */
  take(crossing: Crossing): Sums
  /** Adds sums that another measure of the same kind has returned. */
  add(sums: Sums): void
}

/** Takes the figures of the groups that have any. `width` is their number, and `figure` returns and clears one. */
export function takeFigures(size: number, width: number, figure: (group: number, place: number) => number): Sums {
  const groups: number[] = []
  const figures: number[] = []
  const row = new Float64Array(width)
  for (let group = 0; group < size; group++) {
    let hasAny = false
    for (let place = 0; place < width; place++) {
      row[place] = figure(group, place)
      hasAny ||= row[place] !== 0
    }
    if (!hasAny) continue
    groups.push(group)
    figures.push(...row)
  }
  return { groups: Uint32Array.from(groups), figures: Float64Array.from(figures) }
}
