/** Imports that are no code. */
declare module "*.sql" {
  const text: string
  export default text
}
declare module "*.txt" {
  const text: string
  export default text
}
declare module "*.html" {
  const page: Bun.HTMLBundle
  export default page
}

/** Paths of the flags and brand icons, and of the styles of the plugins' pages, set when the dashboard is bundled. */
declare const SYMBOLS_PATH: string
declare const AREA_STYLES_PATH: string
