/** The contract of sources, under the path that it had before readers shared it. */
export * from "../source.ts"
