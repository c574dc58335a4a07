export { deedOnSite, deedOnThing } from "../../services/deeds.ts"
