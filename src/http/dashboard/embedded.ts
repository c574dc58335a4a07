/** A part as the binary holds it: compressed by the build both ways that browsers take. */
export interface EmbeddedPart {
  path: string
  type: string
  /** Paths of the files inside the binary. */
  zstd: string
  gzip: string
}

/** The dashboard inside the binary. `scripts/build.ts` puts the list here; from source it is bundled when it is first asked for. */
export const EMBEDDED: readonly EmbeddedPart[] | undefined = undefined as readonly EmbeddedPart[] | undefined
