import { visible } from "../text/safe-text.ts"

/** Name and email address of a person in a table cell. */
export const Person = ({ name, email }: { name: string; email: string }) => (
  <>
    <div>{visible(name)}</div>
    <div class="small quiet">{visible(email)}</div>
  </>
)
