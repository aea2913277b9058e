# gradcast on a bare Debian 12, by the two commands of the README. An image that builds has passed the tests.
#   docker build -t gradcast . && docker run gradcast simulate --model resnet-50
FROM debian:12
COPY . /gradcast
WORKDIR /gradcast
RUN scripts/run compare
RUN scripts/test
ENTRYPOINT ["build/gradcast"]
CMD ["compare"]
