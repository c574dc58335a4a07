/** File of the dashboard inside the binary, compressed by the build with both encodings that browsers accept. */
export interface EmbeddedPart {
  path: string
  type: string
  /** Paths of the compressed files inside the binary. */
  zstd: string
  gzip: string
}

/** Files of the dashboard inside the binary. `scripts/build.ts` replaces this module. From source the dashboard is bundled on first use. */
export const EMBEDDED: readonly EmbeddedPart[] | undefined = undefined as readonly EmbeddedPart[] | undefined
