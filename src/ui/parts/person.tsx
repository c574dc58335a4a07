import { visible } from "../safe-text.ts"

/** Somebody in a cell of a table, by name and by the address that tells namesakes apart. */
export const Person = ({ name, email }: { name: string; email: string }) => (
  <>
    <div>{visible(name)}</div>
    <div class="small quiet">{visible(email)}</div>
  </>
)
