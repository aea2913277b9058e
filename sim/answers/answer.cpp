#include "sim/answers/answer.hpp"

namespace gradcast {

void deliver(const Flags& flags, const std::vector<InputFile>& inputs, std::string_view engine,
             const Answer& answer) {
  for (const InputFile& input : inputs)
    if (!input.path.empty()) flags.refuse_to_overwrite(input.path);
  switch (flags.format()) {
    case Format::Table:
      flags.deliver_table(answer.table);
      break;
    case Format::Csv:
      flags.deliver(rows_to_csv(answer.rows));
      break;
    case Format::Json: {
      const auto& arguments = answer.arguments.empty() ? flags.arguments() : answer.arguments;
      Json document = make_document({answer.schema.empty() ? flags.command() : answer.schema,
                                     arguments, inputs, std::string(engine)});
      document["seed"] = answer.seed;
      document["results"] = answer.rows;
      if (!answer.summary.is_null()) document["summary"] = answer.summary;
      if (!answer.more.is_null()) document.update(answer.more);
      flags.deliver(to_text(document));
    }
  }
}

}  // namespace gradcast
