/** Imports that are no code. */
declare module "*.sql" {
  const text: string
  export default text
}
