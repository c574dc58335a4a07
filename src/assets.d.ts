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
